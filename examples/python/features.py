#!/usr/bin/env python3
"""Reads the topics of an eerf pipeline: rows of features as a table, or features computed again from the events.

    features.py table --brokers localhost:9092 --out features.parquet
    features.py check --messages exported

Needs numpy and pyarrow, and confluent-kafka where it reads from Kafka. Without a Kafka client it reads folders that
`featurizer topics export` wrote: --messages names one with a folder for each topic in it. The formats are those of
docs/wire-formats.md; eerf_wire.py beside this file is the Python of that page.
"""
import argparse
import base64
import collections
import json
import pathlib
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import eerf_wire as wire

Message = collections.namedtuple("Message", "partition offset key headers value")  # bytes, but for headers: (str, bytes)


def from_folder(folder, topic):
    """Yields the messages of a topic that `featurizer topics export --topic TOPIC --out FOLDER/TOPIC` wrote."""
    folder = pathlib.Path(folder, topic)

    def raw(text):
        return text if text is None else base64.b64decode(text["base64"]) if isinstance(text, dict) else text.encode()

    for m in json.loads((folder / "messages.json").read_text(encoding="utf-8"))["messages"]:
        value = (folder / m["file"]).read_bytes() if "file" in m else None
        yield Message(m["partition"], m["offset"], raw(m["key"]), [(h["key"], raw(h["value"])) for h in m["headers"]], value)


def from_kafka(brokers, topic):
    """Yields the messages of a topic from its start to its present end, without joining a consumer group."""
    import confluent_kafka as kafka

    consumer = kafka.Consumer({
        "bootstrap.servers": brokers, "group.id": "not-used", "enable.auto.commit": False, "enable.partition.eof": True,
        "log_level": 4})
    try:
        found = consumer.list_topics(topic, timeout=30).topics[topic]
        if found.error:
            raise kafka.KafkaException(found.error)
        consumer.assign([kafka.TopicPartition(topic, p, kafka.OFFSET_BEGINNING) for p in found.partitions])
        unread = set(found.partitions)
        while unread:
            m = consumer.poll(30)
            if m is None:
                raise TimeoutError(f"no answer about {topic} within 30 s")
            if m.error() and m.error().code() == kafka.KafkaError._PARTITION_EOF:
                unread.discard(m.partition())
            elif m.error():
                raise kafka.KafkaException(m.error())
            else:
                yield Message(m.partition(), m.offset(), m.key(), m.headers() or [], m.value())
    except kafka.KafkaException as fault:
        raise ConnectionError(f"{topic} at {brokers}: {fault.args[0].str()}") from None
    finally:
        consumer.close()


def newest(messages):
    """Returns the last value under each key of a compacted topic. One without a value takes away what was there."""
    values = {}
    for m in messages:
        if m.value is None:
            values.pop(m.key.decode(), None)
        else:
            values[m.key.decode()] = m.value
    return values


def feature_sets(messages, pipeline):
    """Returns the feature sets of a pipeline by id, and the id of the one in use (None = none yet)."""
    values, sets, current = newest(messages), {}, None
    for key, value in values.items():
        owner, _, name = key.partition("/")
        if owner != pipeline:
            continue
        if name == "current":
            current = wire.read(value, "eerf.current")[1]["id"]
        else:
            sets[name] = wire.read_feature_set(value)
    return sets, current


Batch = collections.namedtuple("Batch", "at rows features table")  # rows [n], features [n, M]


def batches(messages, feature_set):
    """Yields what messages of features hold of one feature set; rows that were there before are dropped."""
    seen = collections.defaultdict(wire.Deduplicator)
    for m in messages:
        at = wire.feature_headers(m.headers)
        if at["feature_set"] != feature_set:
            continue
        _, rows, z, table = wire.read_features(m.value)
        fresh = seen[at["source_partition"]].fresh(at, rows)
        yield Batch(at, rows[fresh], z[fresh], table.filter(pa.array(fresh)))


def as_table(parts):
    """Returns the rows of batches as one table, with the coordinates of their events in front."""
    tables = []
    for b in parts:
        n = len(b.rows)
        coordinates = {"partition": np.full(n, b.at["source_partition"], np.int32), "offset": np.full(n, b.at["source_offset"], np.int64), "row": b.rows}
        tables.append(pa.table({**coordinates, **{name: b.table[name] for name in b.table.column_names}}))
    return pa.concat_tables(tables, promote_options="default") if tables else pa.table({})


def event_rows(value):
    """Returns the rows of an event message as dicts, numbered over all its record batches."""
    with pa.ipc.open_stream(value) as stream:
        return stream.read_all().to_pylist()


def compare(parts, events, feature_set):
    """Returns how many rows were computed again, and the greatest difference in units of the features' scale."""
    values = {(m.partition, m.offset): m.value for m in events}
    rows, worst = 0, 0.0
    for b in parts:
        value = values.get((b.at["source_partition"], b.at["source_offset"]))
        if value is None or len(b.rows) == 0:  # the event is no longer in the log; or all of it was there before
            continue
        event = event_rows(value)
        x = np.stack([wire.encode(feature_set["encoder"], event[row]) for row in b.rows])
        difference = np.abs(wire.features(feature_set, x) - b.features)
        rows, worst = rows + len(b.rows), max(worst, float(difference.max()) / feature_set["scale"])
    return rows, worst


TOLERANCE = 1e-3  # of a feature of size 1: products in float32 over many dimensions, see docs/performance.md


def arguments(line):
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog=__doc__.split("\n\n")[2])
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (("table", "write the rows of the feature set in use, each once, as Parquet"),
                       ("check", "compute the features again from the events, and compare")):
        c = commands.add_parser(name, help=text, description=text)
        source = c.add_mutually_exclusive_group(required=True)
        source.add_argument("--brokers", help="host:port of Kafka")
        source.add_argument("--messages", help="folder with a folder for each topic, by featurizer topics export")
        c.add_argument("--pipeline", default="default", help="pipeline.name of the configuration")
        for topic in ("features", "feature-sets", "events"):
            c.add_argument("--" + topic, metavar="TOPIC", help=f"name of the topic, where it is not PIPELINE.{topic}")
        if name == "table":
            c.add_argument("--out", required=True, help="Parquet file to write")
    args = parser.parse_args(line)
    args.events = args.events or args.pipeline + ".events"
    args.features = args.features or args.pipeline + ".features"
    args.feature_sets = args.feature_sets or args.pipeline + ".feature-sets"
    return args


def main(line=None):
    args = arguments(line)

    def messages(topic):
        return from_kafka(args.brokers, topic) if args.brokers else from_folder(args.messages, topic)

    sets, current = feature_sets(messages(args.feature_sets), args.pipeline)
    if current not in sets:
        sys.exit(f"pipeline {args.pipeline} has no feature set yet")
    feature_set = sets[current]
    if wire.feature_set_id(feature_set) != current:
        sys.exit(f"feature set {current} is not what its id says")
    parts = batches(messages(args.features), current)
    if args.command == "table":
        table = as_table(parts)
        pq.write_table(table, args.out)
        print(f"{table.num_rows} rows of {feature_set['features']} features of {current} written to {args.out}")
        return
    rows, worst = compare(parts, messages(args.events), feature_set)
    print(f"{rows} rows of {feature_set['features']} features of {current} computed again, greatest difference {worst:.1e}")
    if rows == 0 or worst > TOLERANCE:
        sys.exit("the features are not those of the events" if rows else "no row could be computed again")


if __name__ == "__main__":
    try:
        main()
    except (OSError, ImportError, ValueError) as fault:  # no such folder, no answer, no Kafka client, another format version
        sys.exit(f"features.py: {fault}")
