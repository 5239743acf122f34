"""Finds the program featurizer and runs explorations with it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from .feature_set import FeatureSet

VARIABLE = "EERF_FEATURIZER"  # environment variable with the path of the program

_BUNDLED = Path(__file__).parent / "bin" / "featurizer"


class ProgramNotFoundError(FileNotFoundError):
    """The program featurizer was not found."""


class ExplorationError(ValueError):
    """The program refused the rows or the settings; the message gives the reason."""


def find(program: str | os.PathLike[str] | None = None) -> str:
    """Returns the path of the program: the given path, EERF_FEATURIZER, the program in this package, or the one on PATH."""
    for source, named in (("program", program), (VARIABLE, os.environ.get(VARIABLE))):
        if named:
            found = shutil.which(os.fspath(named))
            if found is None:
                raise ProgramNotFoundError(f"{source} names {os.fspath(named)}, which is not a program")
            return found
    if os.access(_BUNDLED, os.X_OK):
        return str(_BUNDLED)
    found = shutil.which("featurizer")
    if found is None:
        raise ProgramNotFoundError(
            "fit needs the program featurizer, which this installation of eerf does not bring: install a wheel that has it "
            f"(Linux on x86-64), put it on PATH, or name it in {VARIABLE}"
        )
    return found


@dataclass
class Explored:
    """The result of an exploration: the feature set, its report (featurizer explore --json), and warnings."""

    feature_set: FeatureSet
    report: dict[str, Any]

    @property
    def warnings(self) -> list[str]:
        """Warnings about the result."""
        return list(self.report.get("warnings") or [])

    @property
    def left_out(self) -> dict[str, str]:
        """The columns that are not features, with reasons."""
        columns = self.report["lineage"].get("columns") or []
        return {c["column"]: c.get("reason", "") for c in columns if c["use"] == "left out"}


def explore(
    rows: pa.Table,
    settings: Mapping[str, Mapping[str, Any]],
    program: str | os.PathLike[str] | None = None,
    threads: int | None = None,
) -> Explored:
    """Returns the feature set that featurizer explore finds for rows with these settings (sections of eerf.yaml).

    It ignores environment variables that configure a pipeline (EERF_*).
    """
    path = find(program)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("EERF_")}
    if threads is not None:
        environment["GOMAXPROCS"] = str(threads)
    with tempfile.TemporaryDirectory(prefix="eerf-") as folder:
        data, configuration, out = (Path(folder, name) for name in ("rows.arrow", "eerf.json", "set.arrow"))
        with pa.ipc.new_file(data, rows.schema) as writer:
            writer.write_table(rows)
        configuration.write_text(json.dumps(settings, default=_plain), encoding="utf-8")
        command = [path, "explore", "--config", str(configuration), "--data", str(data), "--out", str(out), "--json"]
        try:
            done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        except OSError as fault:
            raise ProgramNotFoundError(f"{path} cannot be run: {fault}") from None
        if done.returncode != 0:
            raise ExplorationError(_reason(done.stderr, folder) or f"{path} exited with code {done.returncode}")
        return Explored(FeatureSet.read(out), json.loads(done.stdout))


def _plain(value: Any) -> Any:
    """Converts a numpy number to a Python one."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a setting is {type(value).__name__}, want a number, a string, or a list of these")


def _reason(said: str, folder: str) -> str:
    """Returns the error output of the program, without the names of deleted files."""
    return said.replace(f"{folder}{os.sep}rows.arrow", "the rows").replace(f"{folder}{os.sep}", "").strip()
