"""Boosted trees on rows that `trainer compare` has split (trees.go), and for lab/scripts.

    trees.py                                                 names the library
    trees.py FOLDER TRAIN_ROWS TEST_ROWS COLUMNS OUTPUTS CLASSES THREADS SEED [CATEGORICAL_COLUMN ...]

FOLDER has train, label, heldout (1 = judges the number of trees) and test: float32, row by row. CLASSES is 0 for a
regression. Writes predicted to it, float32 for each test row and output (log-odds of two classes, log-probabilities of
more), and prints a report as JSON.
"""

import json
import pathlib
import sys
import time

TREES = 500


def models(classes, trees=TREES, threads=1, seed=1, categories=()):
    """Yields name, version and an unfitted model of each installed library."""
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
            max_iter=trees, learning_rate=0.05, max_leaf_nodes=31, early_stopping=False, random_state=seed,
            categorical_features=list(categories) or None,
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


def best_size(name, model, x, y, judges, categories):
    """The number of trees with the least loss on the rows that judge, fitted on the others."""
    import numpy as np

    if judges.sum() < 30 or len(np.unique(y[~judges])) < len(np.unique(y)) and hasattr(model, "predict_proba"):
        return TREES
    if name == "lightgbm":
        import lightgbm

        metric = None if hasattr(model, "predict_proba") else "l2"
        model.fit(
            x[~judges], y[~judges], eval_set=[(x[judges], y[judges])], eval_metric=metric, categorical_feature=categories,
            callbacks=[lightgbm.early_stopping(50, verbose=False)],
        )
        return max(model.best_iteration_ or TREES, 1)
    model.fit(x[~judges], y[~judges])
    if hasattr(model, "predict_proba"):
        at = np.searchsorted(model.classes_, y[judges])
        losses = [-np.log(np.clip(p[np.arange(len(at)), at], 1e-9, 1)).mean() for p in model.staged_predict_proba(x[judges])]
    else:
        losses = [np.square(p - y[judges]).mean() for p in model.staged_predict(x[judges])]
    return int(np.argmin(losses)) + 1


def fit(folder, rows, tests, columns, outputs, classes, threads, seed, *categories):
    import numpy as np

    x, y, judges, test = (np.fromfile(folder / name, np.float32) for name in ("train", "label", "heldout", "test"))
    x, test, judges = x.reshape(rows, columns), test.reshape(tests, columns), judges > 0
    made = np.full((tests, classes or outputs), np.log(1e-9), np.float32)
    train_seconds = predict_seconds = 0.0
    largest = np.nanmax(np.concatenate([x, test])[:, list(categories)], axis=0, initial=0) if categories else []
    few = [c for c, top in zip(categories, largest) if top < 255]  # the limit of scikit-learn
    for k in range(1 if classes else outputs):
        target = y if classes else y.reshape(rows, outputs)[:, k]
        began = time.perf_counter()
        name, version, model = next(models(classes, threads=threads, seed=seed, categories=few))
        trees = best_size(name, model, x, target, judges, list(categories))
        name, version, model = next(models(classes, trees=trees, threads=threads, seed=seed, categories=few))
        model.fit(x, target, **({"categorical_feature": list(categories)} if name == "lightgbm" else {}))
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
    json.dump({"note": f"{name} {version}", "train_seconds": train_seconds, "predict_seconds": predict_seconds}, sys.stdout)


def main():
    if len(sys.argv) > 1:
        fit(pathlib.Path(sys.argv[1]), *map(int, sys.argv[2:]))
    else:
        print(next((name for name, _, _ in models(0)), None) or sys.exit("neither lightgbm nor scikit-learn can be imported"))


if __name__ == "__main__":
    main()
