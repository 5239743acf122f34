#!/usr/bin/env python3
"""Boosted trees on the rows and splits of `lab compare --dataset`, for orientation.

    scripts/trees.py --data-dir DATA --repeats 5 --out trees.json airfoil concrete letter

Fits the models of `trainer compare --trees`, of LightGBM and of scikit-learn where they can be imported. Reads the data files itself, plain or with .gz. Repeat r of seed s has the split of seed s + r: the published
one of that number, the set's own test rows, or for news the rows that the seed shuffles to the front, as compare has
them. Trees see all training rows, and columns as they are published: they need no encoding.

The output is JSON, a run for each set, method, number of trees and repeat: the error in percent (unexplained variance
100·Σ(f-y)²/Σ(y-ȳ)², or misclassification), the log loss of classes, the seconds of training, and the microseconds that a row takes when the
test rows are predicted at once. `lab results` adds it to the tables of compare.
"""

import argparse
import gzip
import json
import os
import pathlib
import platform
import sys
import time

REGRESSION = ("airfoil", "concrete", "parkinsons", "sml", "skillcraft", "pumadyn32nm", "keggdirected")
CLASSES = ("a9a", "adult", "letter", "har", "mnist")
NEWS = ("news", "news-log")


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-dir", default=os.environ.get("EERF_DATA", "data"))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--trees", type=lambda s: [int(n) for n in s.split(",")], default=[500], help="numbers of trees, with commas")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", choices=("lightgbm", "hist-gradient-boosting"), help="one of the libraries")
    parser.add_argument("--compile", action="store_true", help="time LightGBM's trees in ONNX Runtime too")
    parser.add_argument("--out", default="-", help="file of the output; - is standard output")
    parser.add_argument("sets", nargs="+", choices=REGRESSION + CLASSES + NEWS)
    return parser.parse_args()


OPTIONS = options()
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = str(OPTIONS.threads)

import numpy as np  # noqa: E402  after the number of threads

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "compare"))
from trees import models, timed  # noqa: E402  those of trainer compare --trees


def opened(name):
    """The bytes of a data file, plain or gzipped."""
    path = pathlib.Path(OPTIONS.data_dir) / name
    for candidate, opener in ((path, open), (path.with_name(path.name + ".gz"), gzip.open)):
        if candidate.exists():
            return opener(candidate, "rb")
    sys.exit(f"neither {path} nor {path.name}.gz is there: trainer fetch puts the files of a set into a folder")


def numbers(name, **how):
    with opened(name) as file:
        return np.loadtxt(file, **how)


class Shuffle:
    """The permutation of rand.New(rand.NewPCG(seed, tag)).Perm of Go's math/rand/v2."""

    MASK = (1 << 64) - 1

    def __init__(self, seed, tag):
        self.state = (seed << 64) | tag

    def word(self):
        self.state = (self.state * 0x2360ED051FC65DA44385DF649FCCF645 + 0x5851F42D4C957F2D14057B7EF767814F) & ((1 << 128) - 1)
        high, low = self.state >> 64, self.state & self.MASK
        high ^= high >> 32
        high = high * 0xDA942042E4DD58B5 & self.MASK
        high ^= high >> 48
        return high * (low | 1) & self.MASK

    def below(self, n):
        if n & (n - 1) == 0:
            return self.word() & (n - 1)
        product = self.word() * n
        while product & self.MASK < (1 << 64) % n:
            product = self.word() * n
        return product >> 64

    def permutation(self, n):
        order = list(range(n))
        for i in range(n - 1, 0, -1):
            j = self.below(i + 1)
            order[i], order[j] = order[j], order[i]
        return order


def regression(name):
    rows = numbers(f"uci_regression/{name}.csv", delimiter=",")
    masks = numbers(f"uci_regression/{name}.test_mask.csv", delimiter=",").astype(bool)

    def split(seed):
        test = masks[:, (seed - 1) % masks.shape[1]]
        return rows[~test, :-1], rows[~test, -1], rows[test, :-1], rows[test, -1]

    return split


def news(name):
    with opened("OnlineNewsPopularity.csv") as file:
        next(file)
        rows = np.array([[float(v) for v in line.split(b",")[1:]] for line in file])
    x, y = rows[:, 1:-1], rows[:, -1]
    if name == "news-log":
        y = np.log(y)

    def split(seed):
        order = Shuffle(seed, 0x73706C6974).permutation(len(y))
        test = np.zeros(len(y), bool)
        test[order[: int(0.33 * len(y) + 0.5)]] = True
        return x[~test], y[~test], x[test], y[test]

    return split


def libsvm(name, columns=123):
    with opened(name) as file:
        lines = [line.split() for line in file]
    x, y = np.zeros((len(lines), columns), np.float32), np.array([int(line[0]) for line in lines])
    for row, line in zip(x, lines):
        for pair in line[1:]:
            column, value = pair.split(b":")
            row[int(column) - 1] = float(value)
    return x, y


def adult(name, levels):
    """Strings become the numbers of their levels, a missing one NaN."""
    with opened(name) as file:
        lines = [line.decode().strip().rstrip(".").split(", ") for line in file]
    lines = [line for line in lines if len(line) == 15]
    x = np.empty((len(lines), 14))
    for column in range(14):
        for row, line in enumerate(lines):
            text = line[column]
            try:
                x[row, column] = float(text)
            except ValueError:
                known = levels.setdefault(column, {})
                x[row, column] = np.nan if text == "?" else known.setdefault(text, len(known))
    return x, np.array([line[14] == ">50K" for line in lines]).astype(int)


def idx(name):
    with opened(name) as file:
        data = file.read()
    shape = [int.from_bytes(data[4 + 4 * i : 8 + 4 * i], "big") for i in range(data[3])]
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(shape[0], -1)


def classes(name):
    """The training and test rows of a set with test rows of its own."""
    if name == "a9a":
        parts = *libsvm("a9a"), *libsvm("a9a.t")
    elif name == "adult":
        levels = {}
        parts = *adult("adult.data", levels), *adult("adult.test", levels)
    elif name == "letter":
        rows = numbers("letter-recognition.data", delimiter=",", converters={0: lambda s: ord(s) if isinstance(s, str) else s[0]})
        parts = rows[:15000, 1:], rows[:15000, 0], rows[15000:, 1:], rows[15000:, 0]
    elif name == "har":
        parts = tuple(numbers(f"uci_har/{kind}_{part}.txt") for part in ("train", "test") for kind in ("X", "y"))
    else:
        parts = tuple(
            a if a.shape[1] > 1 else a[:, 0]
            for a in (idx(f"{part}-{kind}-ubyte") for part in ("train", "t10k") for kind in ("images-idx3", "labels-idx1"))
        )
    return lambda seed: parts


def compiled(model, x):
    """The microseconds that a row takes LightGBM's trees in ONNX Runtime."""
    import onnxruntime
    from onnxmltools import convert_lightgbm
    from onnxmltools.convert.common.data_types import FloatTensorType

    made = convert_lightgbm(model, initial_types=[("x", FloatTensorType([None, x.shape[1]]))], zipmap=False)
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = OPTIONS.threads
    session = onnxruntime.InferenceSession(made.SerializeToString(), settings, providers=["CPUExecutionProvider"])
    return 1e6 * timed(lambda x: session.run(None, {"x": x}), np.ascontiguousarray(x, np.float32))[1] / len(x)


def error(task, predicted, y):
    if task == "regression":
        return 100 * np.sum((predicted - y) ** 2) / np.sum((y - y.mean()) ** 2)
    return 100 * np.mean(predicted != y)


def log_loss(model, x, y):
    """The mean of -log p of the class of each row, in nats."""
    at = np.searchsorted(model.classes_, y)
    return float(-np.log(np.clip(model.predict_proba(x)[np.arange(len(y)), at], 1e-9, 1)).mean())


def main():
    runs, versions = [], {}
    for name in OPTIONS.sets:
        task = "classification" if name in CLASSES else "regression"
        split = classes(name) if name in CLASSES else news(name) if name in NEWS else regression(name)
        # Neither library draws anything here, so that a fixed split needs one run.
        for repeat in range(1 if name in CLASSES else OPTIONS.repeats):
            seed = OPTIONS.seed + repeat
            x, y, test_x, test_y = split(seed)
            for trees in OPTIONS.trees:
                for method, version, model in models(task != "regression", trees, OPTIONS.threads, seed):
                    if OPTIONS.only not in (None, method):
                        continue
                    began = time.perf_counter()
                    model.fit(x, y)
                    seconds = time.perf_counter() - began
                    predicted, least = timed(model.predict, test_x)
                    versions[method] = version
                    runs.append({
                        "dataset": name, "method": method, "trees": trees, "repeat": repeat, "seed": seed,
                        "error": error(task, predicted, test_y), "train_rows": len(y), "test_rows": len(test_y),
                        "train_seconds": seconds, "predict_microseconds": 1e6 * least / len(test_y),
                    })
                    if task != "regression":
                        runs[-1]["log_loss"] = log_loss(model, test_x, test_y)
                    if OPTIONS.compile and method == "lightgbm":
                        runs[-1]["compiled_microseconds"] = compiled(model, test_x)
                    print(f"{name} {method} {trees} trees, repeat {repeat}: {runs[-1]['error']:.3f} % in {seconds:.1f} s", file=sys.stderr)
    made = {"python": platform.python_version(), "threads": OPTIONS.threads, "versions": versions}
    text = json.dumps({"made": made, "runs": runs}, indent=1) + "\n"
    if OPTIONS.out == "-":
        sys.stdout.write(text)
    else:
        pathlib.Path(OPTIONS.out).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
