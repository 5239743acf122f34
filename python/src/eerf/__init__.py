"""Feature sets and models of eerf: read from files or topics, computed in numpy, or found by fit.

    import eerf
    features = eerf.FeatureSet.read("set.arrow").transform(frame)          # [n, M]
    predicted = eerf.Model.read("model.arrow").predict(frame)              # [n]
    model = eerf.Topics(eerf.Kafka("localhost:9092"), "churn").model()     # the current model

EERFFeatures, which needs scikit-learn, finds feature sets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import messages
from .encoder import Encoded, Encoder, SchemaError
from .feature_set import FeatureSet
from .messages import FormatError
from .model import Model
from .program import ExplorationError, ProgramNotFoundError
from .topics import Folder, Kafka, Topics, event

if TYPE_CHECKING:
    from .transformer import EERFFeatures

__version__ = "0.1.0"

__all__ = [
    "EERFFeatures",
    "Encoded",
    "Encoder",
    "ExplorationError",
    "FeatureSet",
    "Folder",
    "FormatError",
    "Kafka",
    "Model",
    "ProgramNotFoundError",
    "SchemaError",
    "Topics",
    "event",
    "messages",
]


def __getattr__(name: str) -> Any:
    """Imports EERFFeatures, which needs scikit-learn, on first use."""
    if name != "EERFFeatures":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .transformer import EERFFeatures

    return EERFFeatures
