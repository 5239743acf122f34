"""What tests share: the programs, runs of them, and rows of every kind."""

import datetime
import json
import os
import shutil
import subprocess
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from eerf import program

ROOT = Path(__file__).resolve().parents[2]  # of the repository


@pytest.fixture(scope="session")
def featurizer():
    """The program featurizer."""
    try:
        return program.find()
    except program.ProgramNotFoundError as fault:
        pytest.skip(str(fault))


@pytest.fixture(scope="session")
def trainer():
    """The program trainer, of EERF_TRAINER or on PATH."""
    found = shutil.which(os.environ.get("EERF_TRAINER", "trainer"))
    if found is None:
        pytest.skip("no program trainer: name it in EERF_TRAINER")
    return found


def run(*command):
    """Runs a program and returns what it prints, as JSON."""
    done = subprocess.run([*map(str, command), "--json"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def write(path, table):
    """Writes a table as an Arrow file."""
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    return path


def read(path):
    """Reads an Arrow file."""
    return pa.ipc.open_file(path).read_all()


TEXTS_OF_TIMES = [
    "2024-02-29T18:30:00.125+02:00", "2024-02-29 18:30", " 2024-03-01 ", "2023-02-29", "0000-02-29", "9999-12-31T23:59:59.999999999Z",
    "2024-03-01t05:06:07,5z", "2024-03-01T05:06:07.1234567891-0330", "2024-03-01T05:06 +01", "2024-03-01T24:00", "soon", "",
    "2024-03-01T05:06:60", "2024-03-01T05:06.5", "2024-03-01T05:06:07+01:", "2024-03-01T05:06:07+:0100", "2024-03-01T05:06:07+25:00",
    "2024-03-01X05:06", "2024-3-1", "1969-12-31T23:59:59.5",
]  # fmt: skip
TEXTS_OF_CLOCKS = ["08:15", "08:15:30.25", " 23:59:59,999 ", "24:00", "8:15", "noon", "08:15:30.", "00:00:00.000000001"]


def messy(n, seed, *, unseen=False):
    """Rows with a column of every kind and type, a tenth of the values missing; unseen has categories of its own."""
    rng = np.random.default_rng(seed)
    gone = lambda: rng.random(n) < 0.1  # noqa: E731
    start = datetime.datetime(2022, 1, 1)
    moments = [start + datetime.timedelta(seconds=float(s)) for s in rng.random(n) * 5e7]
    numbers = rng.normal(size=n)
    whole = rng.integers(0, 90, n)
    cities = np.array(["Rome", "Oslo", "São Paulo", "Köln", "x" * 40])
    if unseen:
        cities = np.append(cities, ["Bern", "", "Oslo "])

    def column(values, kind):
        return pa.array([None if g else v for v, g in zip(values, gone(), strict=True)], kind)

    half = pa.array(np.where(gone(), np.nan, numbers).astype(np.float16))
    vectors = pa.array([None if g else [float(v), None if g2 else 2.5 * float(v)] for v, g, g2 in zip(numbers, gone(), gone(), strict=True)],
                       pa.list_(pa.float32(), 2))  # fmt: skip
    table = {
        "a": pa.array(np.where(gone(), np.nan, numbers * 3 + 7)),
        "single": column(numbers.astype(np.float32).tolist(), pa.float32()),
        "half": half,
        "tiny": column((whole - 45).tolist(), pa.int8()),
        "wide": column((whole.astype(np.int64) * 10**15 + 1).tolist(), pa.int64()),
        "unsigned": column((2**63 + whole.astype(object) * 2**55).tolist(), pa.uint64()),
        "money": column([Decimal(int(v)) / 100 for v in whole * 977], pa.decimal128(12, 2)),
        "large_money": column([Decimal(int(v)) / 1000 for v in whole], pa.decimal256(40, 3)),
        "lasted": column([int(v) for v in whole * 10**6], pa.duration("us")),
        "yes": column((numbers > 0).tolist(), pa.bool_()),
        "city": column(cities[rng.integers(0, len(cities), n)].tolist(), pa.string()),
        "many": column([f"v{v}" for v in whole], pa.large_string()),
        "coded": column(cities[rng.integers(0, len(cities), n)].tolist(), pa.string()).dictionary_encode(),
        "at_ns": column(moments, pa.timestamp("ns")),
        "at_zone": column(moments, pa.timestamp("ms", "Europe/Oslo")),
        "old": column([m.replace(year=m.year - 90) for m in moments], pa.timestamp("us")),
        "day": column([m.date() for m in moments], pa.date32()),
        "day64": column([m.date() for m in moments], pa.date64()),
        "clock": column([m.time() for m in moments], pa.time64("us")),
        "clock_s": column([m.time().replace(microsecond=0) for m in moments], pa.time32("s")),
        "written": column([m.isoformat() for m in moments], pa.string()),
        "opens": column([m.time().isoformat("minutes") for m in moments], pa.string()),
        "pixels": vectors,
        "nothing": column([1.0] * n, pa.float64()),
    }
    if unseen:
        table["written"] = column([TEXTS_OF_TIMES[i % len(TEXTS_OF_TIMES)] for i in range(n)], pa.string())
        table["opens"] = column([TEXTS_OF_CLOCKS[i % len(TEXTS_OF_CLOCKS)] for i in range(n)], pa.string())
        table["single"] = pa.array(np.where(rng.random(n) < 0.05, np.inf, numbers).astype(np.float32))
        table["a"] = pa.array(np.where(rng.random(n) < 0.05, 1e300, numbers))
    signal = np.nan_to_num(np.asarray(table["a"])) * 0.2 + np.where(whole > 45, 1.0, -1.0) * numbers
    table["amount"] = pa.array(np.exp(np.clip(signal, -20, 20)))
    table["class2"] = pa.array(np.where(signal > 1, "yes", "no"))
    table["class3"] = pa.array(np.digitize(signal, [0, 1]) * 10)
    return pa.table(table)


LABELS = ("amount", "class2", "class3")
