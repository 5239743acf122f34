# %% [markdown]
# # Features chosen by the data, in scikit-learn
#
# `# %%` separates cells: run them one by one in an editor that supports notebooks, or run the whole file. Plots appear
# if matplotlib is installed; the numbers are printed in any case. It takes some ten seconds on two cores.

# %%
import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, make_swiss_roll
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import LogisticRegression, Ridge, RidgeCV
from sklearn.model_selection import cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eerf import EERFFeatures

try:
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

warnings.filterwarnings("ignore", message=".*above the noise level")

# %% [markdown]
# ## How many features does it take?
#
# A rolled-up sheet in three dimensions: where on the sheet is a point? Plain random features depend on nothing but a
# bandwidth; those of `EERFFeatures` are learned from the labels, so the strength of the ridge regression is chosen on rows
# that did not teach them.

# %%
X, y = make_swiss_roll(1500, noise=0.3, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
alphas = np.logspace(-8, 2, 21)
sizes = [10, 20, 40, 80, 160]


X_teach, X_other, y_teach, y_other = train_test_split(X_train, y_train, test_size=0.2, random_state=0)


def plain(m):
    return make_pipeline(StandardScaler(), RBFSampler(gamma=0.5, n_components=m, random_state=0), RidgeCV(alphas)).fit(X_train, y_train)


def learned(m):
    features = EERFFeatures(n_components=m).fit(X_teach, y_teach)
    alpha = RidgeCV(alphas).fit(features.transform(X_other), y_other).alpha_
    return make_pipeline(features, Ridge(alpha).fit(features.transform(X_train), y_train))


errors = {}
for name, make in (("plain", plain), ("learned", learned)):
    errors[name] = [1 - make(m).score(X_test, y_test) for m in sizes]
print("unexplained variance, % by number of features")
print("         " + " ".join(f"{m:>7}" for m in sizes))
for name, values in errors.items():
    print(f"{name:<8} " + " ".join(f"{100 * v:7.2f}" for v in values))

# %%
if plt:
    for name, values in errors.items():
        plt.loglog(sizes, values, "o-", label=name)
    plt.xlabel("features")
    plt.ylabel("unexplained variance")
    plt.legend()
    plt.show()

# %% [markdown]
# ## What was learned, and from what
#
# The transformer keeps the report of the program: how the held-out loss fell while features were drawn and moved, and
# which columns they use.

# %%
transformer = EERFFeatures(n_components=80).fit(X_train, y_train)
learning = transformer.feature_set_.lineage["learning"]
losses = [point["held_out_loss"] for point in learning["points"]]
print(f"{transformer.feature_set_}: loss on {learning['held_out_rows']} held-out rows {losses[0]:.4f} at first, {min(losses):.4f} at last")
for name, share in zip(transformer.feature_set_.encoder.dimension_names(), learning["importance"], strict=True):
    print(f"  {name}: {100 * share:.0f} % of the squared gradient")
if plt:
    plt.semilogy(losses, "o-")
    plt.xlabel("sets of features on the way")
    plt.ylabel("held-out loss")
    plt.show()

# %% [markdown]
# ## Like any other transformer
#
# It works in pipelines, cross-validation and searches. On small, nearly linear data a linear model is hard to beat, so
# compare before you add features.

# %%
for title, (X, y), last in (
    ("breast cancer, accuracy", load_breast_cancer(return_X_y=True), LogisticRegression(C=10, max_iter=5000)),
    ("diabetes, R2", load_diabetes(return_X_y=True), Ridge(10)),
):
    linear = cross_val_score(make_pipeline(StandardScaler(), last), X, y, cv=3).mean()
    with_features = cross_val_score(make_pipeline(EERFFeatures(n_components=60), last), X, y, cv=3).mean()
    print(f"{title}: linear {linear:.3f}, on learned features {with_features:.3f}")

# %% [markdown]
# ## To a pipeline on Kafka
#
# The feature set, and its id, is the one that `featurizer explore` finds for these rows. Write it to a file for the
# programs: `featurizer transform --set`, `trainer fit --data --feature-set`.

# %%
print("id", transformer.feature_set_.id)
