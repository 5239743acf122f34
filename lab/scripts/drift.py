#!/usr/bin/env python3
"""Compares `trainer backtest` with River's methods for streams that change, on the same rows in the same chunks.

    scripts/drift.py --lab LAB --trainer TRAINER [--still] [STREAM ...]

The rows are those of `lab stream`. Each chunk is predicted, then learned from; the first rows are learned from only.
Errors are misclassification in percent, times processor time by row, of all rows and for predicting and learning. With
--still nothing changes, and what is compared is training with forgetting and without, in pairs: the script fails where
forgetting is worse by more than two standard errors. Prints a table in Markdown.
"""

import argparse
import csv
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lab", required=True, help="the laboratory's binary")
    parser.add_argument("--trainer", required=True, help="the trainer's binary")
    parser.add_argument("--rows", type=int, default=40_000)
    parser.add_argument("--first", type=int, default=5_000, help="rows that are learned from only")
    parser.add_argument("--chunk", type=int, default=1_000)
    parser.add_argument("--features", type=int, default=200, help="M, the features of the models of trainer")
    parser.add_argument("--seeds", type=int, default=1, help="how many streams of a name")
    parser.add_argument("--still", action="store_true", help="streams that do not change; without River")
    parser.add_argument("streams", nargs="*", default=["sea", "hyperplane", "led", "agrawal"])
    return parser.parse_args()


def methods(classes):
    """River's, with their defaults and ten trees."""
    from river import forest, linear_model, multiclass, preprocessing, tree

    logistic = linear_model.LogisticRegression()
    if classes > 2:
        logistic = multiclass.OneVsRestClassifier(logistic)
    return {
        "adaptive random forest": forest.ARFClassifier(n_models=10, seed=1),
        "Hoeffding adaptive tree": tree.HoeffdingAdaptiveTreeClassifier(seed=1),
        "online logistic regression": preprocessing.StandardScaler() | logistic,
    }


def river(path, o):
    """The error in percent and the microseconds a row of each method."""
    with open(path, newline="") as file:
        rows = [({k: float(v) for k, v in row.items() if k != "class"}, row["class"]) for row in csv.DictReader(file)]
    if {label for _, label in rows} == {"yes", "no"}:  # its logistic regression takes booleans
        rows = [(x, label == "yes") for x, label in rows]
    found = {}
    for name, model in methods(len({label for _, label in rows})).items():
        wrong, began = 0, time.process_time()
        for start in range(0, len(rows), o.chunk):
            chunk = rows[start : start + o.chunk]
            if start >= o.first:
                wrong += sum(model.predict_one(x) != label for x, label in chunk)
            for x, label in chunk:
                model.learn_one(x, label)
        seconds = time.process_time() - began
        found[name] = 100 * wrong / (len(rows) - o.first), 1e6 * seconds / len(rows)
        print(f"{path.name}, {name}: {found[name]}", file=sys.stderr)
    return found


def backtest(path, o):
    """The same of trainer under either loss, with forgetting and without."""
    found = {}
    for loss in ("squared", "logistic"):
        command = [o.trainer, "backtest", "--data", path, "--label", "class", "--first", str(o.first), "--every", str(o.chunk),
                   "--features", str(o.features), "--set", f"train.loss={loss}", "--json"]
        done = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        found[loss] = done["all"]["forgets"]["error"], 1e6 * done["forgets_seconds"] / o.rows
        found[f"{loss}, never forgetting"] = done["all"]["never_forgets"]["error"], 1e6 * done["never_forgets_seconds"] / o.rows
        print(f"{path.name}: {found}", file=sys.stderr)
    return found


def main():
    o = options()
    results = {}  # by stream and method: errors and times by seed
    with tempfile.TemporaryDirectory() as folder:
        for stream in o.streams:
            for seed in range(1, o.seeds + 1):
                path = pathlib.Path(folder) / f"{stream}.csv"
                with open(path, "wb") as file:
                    command = [o.lab, "stream", stream, "--rows", str(o.rows), "--seed", str(seed)]
                    subprocess.run(command + ["--still"] * o.still, check=True, stdout=file)
                found = backtest(path, o) | ({} if o.still else river(path, o))
                for name, figures in found.items():
                    results.setdefault(stream, {}).setdefault(name, []).append(figures)
    raise SystemExit(still(results) if o.still else table(results))


def table(results):
    names = list(next(iter(results.values())))
    print("| stream | " + " | ".join(names) + " |")
    print("| --- |" + " ---: |" * len(names))
    for stream, of in results.items():
        cells = [f"{statistics.mean(e for e, _ in of[n]):.2f} ({statistics.mean(t for _, t in of[n]):,.0f} µs)" for n in names]
        print(f"| {stream} | " + " | ".join(cells) + " |")


def still(results):
    """Whether forgetting is worse by more than two standard errors on a stream."""
    worse = False
    print("| stream | loss | forgetting | never forgetting | difference |")
    print("| --- | --- | ---: | ---: | ---: |")
    for stream, of in results.items():
        for loss in ("squared", "logistic"):
            forgets, never = ([e for e, _ in of[n]] for n in (loss, f"{loss}, never forgetting"))
            differences = [a - b for a, b in zip(forgets, never)]
            mean, error = statistics.mean(differences), statistics.stdev(differences) / len(differences) ** 0.5
            worse = worse or mean > 2 * error
            print(f"| {stream} | {loss} | {statistics.mean(forgets):.2f} | {statistics.mean(never):.2f} | {mean:+.3f} ± {error:.3f} |")
    return int(worse)


if __name__ == "__main__":
    main()
