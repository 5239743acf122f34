"""Boosted trees, untuned, on rows that `trainer compare` has split and encoded (trees.go), and for lab/scripts.

    trees.py                                                 says which library there is
    trees.py FOLDER TRAIN_ROWS TEST_ROWS COLUMNS OUTPUTS CLASSES THREADS SEED

FOLDER has train, label and test: float32, row by row. CLASSES is 0 for a regression. Writes predicted to it, float32 for
each test row and output (log-odds of two classes, log-probabilities of more), and prints what it did as JSON.
"""

import json
import pathlib
import sys
import time

TREES = 500


def models(classes, trees=TREES, threads=1, seed=1):
    """Yields name, version and an unfitted model of each library that there is."""
    try:
        import lightgbm

        model = lightgbm.LGBMClassifier if classes else lightgbm.LGBMRegressor
        yield "lightgbm", lightgbm.__version__, model(
            n_estimators=trees, learning_rate=0.05, num_leaves=31, n_jobs=threads, random_state=seed, verbose=-1
        )
    except ImportError:
        pass
    try:
        import sklearn
        from sklearn import ensemble

        model = ensemble.HistGradientBoostingClassifier if classes else ensemble.HistGradientBoostingRegressor
        yield "hist-gradient-boosting", sklearn.__version__, model(
            max_iter=trees, learning_rate=0.05, max_leaf_nodes=31, early_stopping=False, random_state=seed
        )
    except ImportError:
        pass


def timed(predict, x):
    """What predict returns, and the least processor seconds of several times that it took."""
    least, spent = float("inf"), 0.0
    while spent < 0.3:
        began = time.process_time()
        predicted = predict(x)
        seconds = time.process_time() - began
        least, spent = min(least, seconds), spent + seconds
    return predicted, least


def on_one_core(model, classes):
    """The function that predicts with a model, on one core."""
    from threadpoolctl import threadpool_limits  # comes with scikit-learn

    if "n_jobs" in model.get_params():
        model.set_params(n_jobs=1)
    predict = model.predict_proba if classes else model.predict

    def limited(x):
        with threadpool_limits(1):
            return predict(x)

    return limited


def fit(folder, rows, tests, columns, outputs, classes, threads, seed):
    import numpy as np

    x, y, test = (np.fromfile(folder / name, np.float32) for name in ("train", "label", "test"))
    x, test = x.reshape(rows, columns), test.reshape(tests, columns)
    made = np.full((tests, classes or outputs), np.log(1e-9), np.float32)
    train_seconds = predict_seconds = 0.0
    for k in range(1 if classes else outputs):
        name, version, model = next(models(classes, threads=threads, seed=seed))
        began = time.perf_counter()
        model.fit(x, y if classes else y.reshape(rows, outputs)[:, k])
        train_seconds += time.perf_counter() - began
        predicted, least = timed(on_one_core(model, classes), test)
        predict_seconds += least
        if classes:
            made[:, model.classes_.astype(int)] = np.log(np.clip(predicted, 1e-9, 1))
        else:
            made[:, k] = predicted
    if classes == 2:
        made = made[:, 1] - made[:, 0]
    made.astype(np.float32).tofile(folder / "predicted")
    json.dump({"note": f"{name} {version}, {TREES} trees", "train_seconds": train_seconds, "predict_seconds": predict_seconds}, sys.stdout)


def main():
    if len(sys.argv) > 1:
        fit(pathlib.Path(sys.argv[1]), *map(int, sys.argv[2:]))
    else:
        print(next((name for name, _, _ in models(0)), None) or sys.exit("neither lightgbm nor scikit-learn can be imported"))


if __name__ == "__main__":
    main()
