"""Holds ONNX graphs to what the programs compute themselves.

    python3 onnx_check.py rows FOLDER [--data FOLDER] [--full]
    python3 onnx_check.py compare FOLDER

rows writes a folder for each case: train.parquet, test.parquet, and case.json with the flags of `trainer fit`; --full takes all rows,
and the settings that fit has by default. A test adds what the programs make of it: model.arrow, features.arrow, predictions.arrow, set.onnx and model.onnx. compare runs the graphs in onnxruntime,
prints a line of greatest differences for each case, and fails where one is too large. The package eerf is on PYTHONPATH.
"""
import argparse
import datetime
import decimal
import gzip
import itertools
import json
import pathlib
import re
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

FEATURES, PREDICTIONS, MARGIN = 2e-5, 1e-5, 1e-5
RELATIVE = 1e-4  # of predictions that are powers of what the model computes


def documented():
    """Returns the Python of docs/serving.md."""
    page = pathlib.Path(__file__).parents[3] / "docs" / "serving.md"
    names = {}
    exec(re.search("```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL).group(1), names)
    return names


def generated(rows, seed):
    """Returns rows with every kind of column, gaps in each, and labels that depend on them."""
    r = np.random.default_rng(seed)
    n = rows
    gap = lambda share=0.1: r.random(n) < share
    age = r.integers(18, 90, n)
    income = np.exp(r.normal(8, 1.5, n))
    city = r.choice(["Rome", "Oslo", "Bonn", "Łódź", "x"] + [f"rare {i}" for i in range(8)], n, p=[.3, .25, .2, .15, .02] + [.01] * 8)
    if seed:  # values that no row of the first file has
        city = np.where(r.random(n) < 0.05, "unseen", city)
    member = r.random(n) < 0.4
    start = datetime.datetime(2021, 1, 1)
    at = [start + datetime.timedelta(seconds=float(s)) for s in r.uniform(0, 3 * 365 * 86400, n)]
    opened = np.array([t.hour + t.minute / 60 for t in at])
    pixels = r.normal(0, 2, (n, 3)).astype(np.float32)
    f = (np.sin(age / 9) + 0.4 * np.log(income) + (city == "Rome") + 0.7 * np.cos(2 * np.pi * opened / 24)
         + 0.5 * np.sin(2 * np.pi * np.array([t.timetuple().tm_yday for t in at]) / 365) + 0.3 * member * pixels[:, 0] + r.normal(0, 0.1, n))
    masked = lambda values, kind, share=0.1: pa.array(values, kind, mask=gap(share))
    return pa.table({
        "age": masked(age, pa.int32()), "income": masked(income, pa.float64(), 0.02), "city": masked(city.tolist(), pa.string()),
        "class": masked(member.tolist(), pa.bool_()),
        "price (€)": masked([decimal.Decimal(f"{v:.2f}") for v in income / 7], pa.decimal128(12, 2)),
        "seen": masked(at, pa.timestamp("us")), "born": masked([t.date() for t in at], pa.date32()),
        "opens": masked([t.time() for t in at], pa.time64("us")),
        "pixels": pa.FixedSizeListArray.from_arrays(pa.array(pixels.ravel()), 3),
        "score": f, "size": np.exp(f), "group": np.where(f > np.quantile(f, .66), "high", np.where(f > np.quantile(f, .33), "mid", "low")).tolist(),
        "good": (f > np.median(f)).tolist(),
    })


LABELS = ["score", "size", "group", "good"]


def lines(path, most):
    """Returns the fields of the first rows of a gzipped file."""
    with gzip.open(path, "rt") as file:
        return [[f.strip() for f in line.split(",")] for line in itertools.islice(file, most)]


def adult(data, part, most):
    names = "age,workclass,fnlwgt,education,education_num,marital,occupation,relationship,race,sex,gain,loss,hours,country,income".split(",")
    columns = {}
    for name, values in zip(names, zip(*(row for row in lines(data / f"adult.{part}.gz", most) if len(row) == len(names)))):
        values = [None if v == "?" else v.rstrip(".") for v in values]
        columns[name] = [v and int(v) for v in values] if values[0].isdigit() else values
    if part == "test":
        columns["workclass"][::37] = ["never seen"] * len(columns["workclass"][::37])
    return pa.table(columns)


def letter(data, most):
    letters, *columns = zip(*(row for row in lines(data / "letter-recognition.data.gz", most) if len(row) == 17))
    return pa.table({"letter": letters, **{f"c{i}": [int(v) for v in values] for i, values in enumerate(columns)}})


def cases(data, full):
    """Yields (name, rows to fit, rows to predict, flags of the fit)."""
    few = [] if full else ["--criterion", "correlation", "--features", "40", "--candidates", "200"]
    train, test = generated(6000 if full else 1500, 0), generated(2000 if full else 700, 1)

    def made(name, label, *flags):
        others = [other for other in LABELS if other != label]
        return name, train, test, ["--label", label, "--exclude", ",".join(others), *few, *flags]

    yield made("regression with dates", "score")
    yield made("regression of a logarithm", "size", "--label-transform", "log", "--standardize", "all")
    yield made("regression of log1p, raw numbers", "size", "--label-transform", "log1p", "--clip", "0", "--exclude", "score,group,good,price (€),seen,born", "--standardize", "none")
    yield made("NaN refused", "score", "--set", "events.nan=reject")
    yield made("two outputs", "score,size")
    yield made("three classes", "group")
    yield made("three classes by squares", "group", "--loss", "squared")
    yield made("two classes", "good")
    plain = ["--criterion", "correlation"]
    yield made("two classes by squares, steps", "good", "--loss", "squared", "--map", "arccos0", *plain)
    yield made("ramps", "score", "--map", "arccos1", *plain)
    yield made("squared ramps", "score", "--map", "arccos2", *plain)
    yield made("coordinates", "good", "--map", "linear", *plain, "--features", "12", "--candidates", "12")
    if data and (data / "adult.data.gz").exists():
        most = None if full else 3000
        yield "adult", adult(data, "data", most), adult(data, "test", most), ["--label", "income", *few]
    if data and (data / "letter-recognition.data.gz").exists():
        rows, share = letter(data, None if full else 5000), 16000 if full else 3000
        yield "letter", rows.slice(0, share), rows.slice(share), ["--label", "letter", *few]


def first_numbers(table):
    """Returns the name of a column of floats that is a feature; None without one."""
    return next((name for name in table.column_names if pa.types.is_floating(table[name].type) and name not in LABELS), None)


def spoiled(table):
    """Returns the rows with infinities in some."""
    name = first_numbers(table)
    if name is None:
        return table
    values = table[name].to_pylist()
    values[3::50] = [np.inf] * len(values[3::50])
    return table.set_column(table.column_names.index(name), name, pa.array(values))


def compare(folder, flags):
    """Returns the greatest differences of a case."""
    import eerf
    from eerf.messages import column
    import onnx
    import onnxruntime
    file = {name: folder / name for name in ("model.arrow", "features.arrow", "predictions.arrow", "set.onnx", "model.onnx")}
    test = pq.read_table(folder / "test.parquet")
    name = first_numbers(test)
    bad = np.isinf(test[name].to_numpy(zero_copy_only=False)) if name else np.zeros(len(test), bool)
    model = eerf.Model.read(file["model.arrow"])
    for name in ("set.onnx", "model.onnx"):
        onnx.checker.check_model(onnx.load(file[name]), full_check=True)
    session = onnxruntime.InferenceSession(file["model.onnx"], providers=["CPUExecutionProvider"])
    meta = session.get_modelmeta().custom_metadata_map
    assert meta["eerf.feature_set"] == model.feature_set_id and meta["eerf.model"] == model.id, meta
    given = documented()["tensors"](session, test)
    got = dict(zip((o.name for o in session.get_outputs()), session.run(None, given)))
    alone = onnxruntime.InferenceSession(file["set.onnx"], providers=["CPUExecutionProvider"])
    assert np.array_equal(alone.run(None, given)[0], got["features"], equal_nan=True)
    one = session.run(["features"], {name: values[:1] for name, values in given.items()})[0]
    assert one.shape == (1, got["features"].shape[1])

    with pa.memory_map(str(file["features.arrow"])) as source:
        features = pa.ipc.open_file(source).read_all()
    with pa.memory_map(str(file["predictions.arrow"])) as source:
        predictions = pa.ipc.open_file(source).read_all()
    kept = features["row"].to_numpy()
    assert np.array_equal(np.flatnonzero(~bad), kept), "other rows are rejected"
    assert np.isnan(got["features"][bad]).all()
    want = column(features, "features")
    found = {"rows": len(kept), "features": worst(got["features"][kept], want, np.maximum(1, np.abs(want)))}
    if "prediction" in got:
        assert np.isnan(got["prediction"][bad]).all()
        topic = column(predictions, "prediction").reshape(len(kept), -1)
        found["predictions"] = worst(got["prediction"][kept], topic, np.maximum(np.maximum(1, np.std(topic, axis=0)), np.abs(topic)))
        return found
    assert (got["class"][bad] == "").all()
    f = model.outputs(want)
    top = np.sort(np.hstack([np.zeros_like(f), f]) if f.shape[1] == 1 else f, axis=1)
    margin = top[:, -1] - top[:, -2]
    named = np.array(predictions["prediction"].cast(pa.string()).to_pylist(), dtype=object)
    differs = got["class"][kept, 0] != named
    found["classes"] = int(differs.sum())
    assert not (differs & (margin > MARGIN)).any(), "classes differ where the margin is large"
    if "probabilities" in got:
        found["predictions"] = worst(got["probabilities"][kept], column(predictions, "probabilities"))
    return found


def worst(a, b, unit=1):
    """Returns the greatest difference, in the given units."""
    assert a.shape == b.shape, (a.shape, b.shape)
    return float(np.max(np.abs(a.astype(np.float64) - b) / unit))


def write_rows(folder, data, full):
    """Writes the rows and flags of the cases."""
    for number, (name, train, test, flags) in enumerate(cases(data, full)):
        place = folder / f"{number:02}"
        place.mkdir()
        pq.write_table(train, place / "train.parquet")
        pq.write_table(spoiled(test), place / "test.parquet")
        (place / "case.json").write_text(json.dumps({"name": name, "flags": flags}))


def compare_all(folder):
    faults = []
    for place in sorted(folder.iterdir()):
        case = json.loads((place / "case.json").read_text())
        found = compare(place, case["flags"])
        print(f"{case['name']}: {found}", flush=True)
        bound = RELATIVE if "--label-transform" in case["flags"] else PREDICTIONS
        if found["features"] > FEATURES or found.get("predictions", 0) > bound:
            faults.append(case["name"])
    if faults:
        sys.exit("too large a difference: " + ", ".join(faults))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("step", choices=["rows", "compare"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--data", type=pathlib.Path)
    parser.add_argument("--full", action="store_true")
    args = parser.parse_args()
    if args.step == "rows":
        write_rows(args.folder, args.data, args.full)
    else:
        compare_all(args.folder)


main()
