#!/usr/bin/env python3
"""Compares what `trainer fit` learns from the messy file with scikit-learn's HistGradientBoosting.

    scripts/messy.py --trainer TRAINER --rows FILE

Both see the same training rows of FILE and are measured on the same quarter of it, for the label of five classes and for
that of two. TRAINER reads the lines as they are. For the trees the script cleans them up by hand, as somebody who knows the
file would: words for missing values, slips, numbers written as text, dates as numbers and as their hour, weekday and
day of the year, the commonest places as categories. Prints the area under the ROC curve (one class against the rest, mean of the
classes), and fails where the trees' is better by more than --margin.
"""

import argparse
import csv
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score

LABELS = {"Segment": "churned", "churned": "Segment"}  # each with the column that is not to be looked at
PLACES = 250  # categories that the trees take


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trainer", required=True, help="the trainer's binary")
    parser.add_argument("--rows", required=True, help="the messy file")
    parser.add_argument("--features", default="500", help="M, the features of the model")
    parser.add_argument("--seed", type=int, default=1, help="of the split")
    parser.add_argument("--margin", type=float, default=0.01)
    parser.add_argument("fit", nargs="*", help="further flags of trainer fit, after --")
    return parser.parse_args()


def split(path, seed, folder):
    """Writes the lines of training and of test as they are, and returns which rows are for testing."""
    header, *lines = pathlib.Path(path).read_bytes().splitlines(keepends=True)
    test = np.random.default_rng(seed).random(len(lines)) < 0.25
    for name, wanted in (("train.csv", False), ("test.csv", True)):
        (folder / name).write_bytes(header + b"".join(line for line, is_test in zip(lines, test) if is_test == wanted))
    return test


def cleaned(path, test):
    """The columns of the file as numbers, by hand."""
    raw = pd.read_csv(path, encoding="utf-8-sig", skipinitialspace=True).rename(columns=str.strip)
    x = pd.DataFrame({
        "age": raw["Age"], "visits": raw["visits"],
        "income": pd.to_numeric(raw["Income, yearly"], errors="coerce"),
        "fee": raw["fee"].str.replace("[€,]", "", regex=True).astype(float),
        "discount": raw["Rabatt"].astype(str).str.replace(",", ".").astype(float),
        "active": raw["active"] == "yes",
        "newsletter": raw["newsletter"].map({True: 1, False: 0, "True": 1, "False": 0}),
    }).astype(float)
    for name, column in (("signup", "Signup date"), ("seen", "last seen (UTC)")):
        when = pd.to_datetime(raw[column], format="ISO8601", utc=True)
        x[name] = (when - pd.Timestamp(0, tz="UTC")).dt.total_seconds()
        x[name + " hour"] = when.dt.hour + when.dt.minute / 60
        x[name + " weekday"] = when.dt.day_of_week
        x[name + " day"] = when.dt.day_of_year
    x["place"], x["plan"] = numbered(raw["Ort"], test, PLACES), numbered(raw["plan"], test, PLACES)
    return x, raw


def numbered(column, test, most):
    """The number of each value among the commonest of the training rows; NaN for the others."""
    commonest = column[~test].value_counts().index[:most]
    return column.map({value: k for k, value in enumerate(commonest)})


def auc(y, p, classes):
    if len(classes) == 2:
        return roc_auc_score(y == classes[1], p[:, 1])
    return roc_auc_score(y, p, multi_class="ovr", average="macro", labels=classes)


def trees(x, y, test, classes):
    model = HistGradientBoostingClassifier(categorical_features=["place", "plan"], random_state=1)
    model.fit(x[~test], y[~test])
    assert list(model.classes_) == classes
    return model.predict_proba(x[test])


def fitted(o, label, folder, classes):
    """The probabilities that the trainer's model gives to the test rows."""
    model, out = folder / f"{label}.arrow", folder / f"{label}.csv"
    run([o.trainer, "fit", "--data", folder / "train.csv", "--label", label, "--exclude", LABELS[label], "--task", "classification",
         "--loss", "logistic", "--features", o.features, "--out", model, "--json", *o.fit])
    run([o.trainer, "predict", "--model", model, "--data", folder / "test.csv", "--out", out, "--json"])
    with open(out, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return np.array([[float(row[f"probabilities_{c}"]) for c in classes] for row in rows])


def run(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def main():
    o = options()
    failed = False
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        test = split(o.rows, o.seed, folder)
        x, raw = cleaned(o.rows, test)
        print(f"{len(test)} rows, {test.sum()} for testing; M = {o.features}")
        for label in LABELS:
            y = raw[label].astype(str)
            classes = sorted(y.unique())
            began = time.time()
            ours = auc(y[test], fitted(o, label, folder, classes), classes)
            middle = time.time()
            theirs = auc(y[test], trees(x, y, test, classes), classes)
            print(f"{label}: {len(classes)} classes, AUC {ours:.4f} ({middle - began:.0f} s), trees {theirs:.4f} ({time.time() - middle:.0f} s),"
                  f" difference {ours - theirs:+.4f}", flush=True)
            failed = failed or theirs - ours > o.margin
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
