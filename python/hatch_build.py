"""Puts the program featurizer into a wheel, where EERF_PROGRAM names one; without it the wheel is one for every platform."""

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# The program is static, so that any Linux on x86-64 runs it: one with glibc or with musl.
TAG = "py3-none-manylinux2014_x86_64.musllinux_1_1_x86_64"


class ProgramHook(BuildHookInterface):
    """Adds eerf/bin/featurizer and the tag of its platform."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Is called before the wheel is built."""
        program = os.environ.get("EERF_PROGRAM")
        if not program or version != "standard":
            return
        if not os.access(program, os.X_OK):
            raise FileNotFoundError(f"EERF_PROGRAM names {program}, which is no program")
        build_data["force_include"][str(Path(program).resolve())] = "eerf/bin/featurizer"
        build_data["pure_python"] = False
        build_data["tag"] = TAG
