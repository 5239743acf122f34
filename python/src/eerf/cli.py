"""The command line: python -m eerf transform|model|table|check."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa

from .events import read_event
from .feature_set import FeatureSet
from .files import read_rows, transformed, write_rows
from .model import Model
from .topics import Batch, Folder, Kafka, Message, Source, Topics

TOPICS = ("events", "feature-sets", "features", "models")
TOLERANCE = 2e-5  # of a feature: products in float32, see docs/internals/performance.md


def main(line: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit code: 0, 1 if it failed, 2 for wrong usage."""
    args = _arguments(line)
    try:
        {"transform": _transform, "model": _model, "table": _table, "check": _check}[args.command](args)
    except (OSError, ImportError, ValueError, LookupError, TypeError) as fault:
        print(f"eerf {args.command}: {fault}", file=sys.stderr)
        return 1
    return 0


def _arguments(line: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m eerf", description="Feature sets and models of eerf in Python.")
    commands = parser.add_subparsers(dest="command", required=True)
    c = _command(commands, "transform", "features, and with a model predictions, of the rows of a file")
    c.add_argument("--set", help="file of the feature set; not needed if the model file contains it")
    c.add_argument("--model", help="file of a model")
    c.add_argument("--data", required=True, help="Arrow or Parquet file of rows")
    c.add_argument("--out", required=True, help="file to write: Arrow, or Parquet if it ends with .parquet")
    c.add_argument("--threshold", type=float, help="of two classes, predict the second where its probability is above this")
    c = _command(commands, "model", "write the model in use, with its feature set, as a file that trainer predict takes")
    _add_source(c)
    c.add_argument("--out", required=True, help="file to write")
    c = _command(commands, "table", "write the features on the topic, of the feature set in use, each row once")
    _add_source(c)
    c.add_argument("--out", required=True, help="file to write: Arrow, or Parquet if it ends with .parquet")
    c = _command(commands, "check", "recompute the features on the topic from the events (Arrow or JSON), and compare")
    _add_source(c)
    args = parser.parse_args(line)
    if args.command == "transform" and not (args.set or args.model):
        parser.error("transform needs --set, --model or both")
    if args.command == "transform" and args.threshold is not None and not args.model:
        parser.error("--threshold needs --model: features have no decisions")
    return args


def _command(commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, text: str) -> argparse.ArgumentParser:
    return commands.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")


def _add_source(c: argparse.ArgumentParser) -> None:
    source = c.add_mutually_exclusive_group(required=True)
    source.add_argument("--brokers", help="host:port of Kafka (needs confluent-kafka)")
    source.add_argument("--messages", help="folder with one folder per topic, written by featurizer topics export")
    c.add_argument("--pipeline", default="default", help="pipeline.name of the configuration")
    for topic in TOPICS:
        c.add_argument("--" + topic, metavar="TOPIC", help=f"name of the topic, if other than PIPELINE.{topic}")


def _topics(args: argparse.Namespace) -> Topics:
    source: Source = Kafka(args.brokers) if args.brokers else Folder(args.messages)
    named = {topic: getattr(args, topic.replace("-", "_")) for topic in TOPICS}
    return Topics(source, args.pipeline, {topic: name for topic, name in named.items() if name})


def _transform(args: argparse.Namespace) -> None:
    feature_set = FeatureSet.read(args.set) if args.set else None
    model = Model.read(args.model, feature_set) if args.model else None
    if feature_set is None and model is not None:
        if model.feature_set is None:
            raise ValueError(f"{args.model} holds a model without its feature set {model.feature_set_id}; name the file of the set with --set")
        feature_set = model.feature_set
    assert feature_set is not None  # the arguments require one of the two
    rows = read_rows(args.data)
    out = transformed(feature_set, model, rows, args.threshold)
    write_rows(args.out, out)
    rejected = rows.num_rows - out.num_rows
    print(f"{out.num_rows} rows of {len(feature_set)} features of {feature_set.id} written to {args.out} ({rejected} rows rejected)")


def _model(args: argparse.Namespace) -> None:
    model = _topics(args).model()
    model.write(args.out)
    print(f"model {model.id} of feature set {model.feature_set_id} written to {args.out}")


def _table(args: argparse.Namespace) -> None:
    topics = _topics(args)
    feature_set = topics.feature_set()
    table = as_table(topics.features(feature_set.id))
    write_rows(args.out, table)
    print(f"{table.num_rows} rows of {len(feature_set)} features of {feature_set.id} written to {args.out}")


def _check(args: argparse.Namespace) -> None:
    topics = _topics(args)
    feature_set = topics.feature_set()
    rows, worst = compare(topics.features(feature_set.id), topics.messages("events"), feature_set)
    print(f"{rows} rows of {len(feature_set)} features of {feature_set.id} computed again, greatest difference {worst:.1e}")
    if rows == 0:
        raise ValueError("no row could be recomputed")
    if worst > TOLERANCE:
        raise ValueError("features differ from those computed from the events")


def as_table(batches: Iterable[Batch]) -> pa.Table:
    """Returns batches of features as one table, with the coordinates of their events in front."""
    tables = []
    for b in batches:
        n = len(b.rows)
        table = pa.table({
            "partition": np.full(n, b.at["source_partition"], np.int32), "offset": np.full(n, b.at["source_offset"], np.int64),
            **{name: b.table[name] for name in b.table.column_names},
        })  # fmt: skip
        tables.append(table)
    return pa.concat_tables(tables, promote_options="default") if tables else pa.table({})


def compare(batches: Iterable[Batch], events: Iterable[Message], feature_set: FeatureSet) -> tuple[int, float]:
    """Returns the number of rows recomputed from the events, and the largest difference of a feature."""
    values = {(m.partition, m.offset): m.value for m in events}
    rows, worst = 0, 0.0
    for b in batches:
        value = values.get((b.at["source_partition"], b.at["source_offset"]))
        if value is None or len(b.rows) == 0:  # the event is no longer in the log, or all its rows were duplicates
            continue
        event = read_event(value, feature_set.encoder)
        again = feature_set.transform(event.take(pa.array(b.rows)))
        rows, worst = rows + len(b.rows), max(worst, float(np.abs(again - b.features).max()))
    return rows, worst
