"""The topics of a pipeline, from Kafka or from folders written by `featurizer topics export`."""

from __future__ import annotations

import base64
import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from . import messages
from .feature_set import FeatureSet
from .messages import FormatError
from .model import Model
from .rows import as_table

Headers = list[tuple[str, bytes]]


class Message(NamedTuple):
    """A message of a topic. A value of None (a tombstone) deletes the key."""

    partition: int
    offset: int
    key: bytes | None
    headers: Headers
    value: bytes | None


class Source(Protocol):
    """A source of topics."""

    def messages(self, topic: str) -> Iterator[Message]:
        """Yields the messages of a topic from its start to its current end, each partition in order."""
        ...


class Folder:
    """Topics that `featurizer topics export --topic TOPIC --out FOLDER/TOPIC` wrote."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def messages(self, topic: str) -> Iterator[Message]:
        """Yields the messages of a topic."""
        folder = self.path / topic
        listed = json.loads((folder / "messages.json").read_text(encoding="utf-8"))
        for m in listed["messages"]:
            value = (folder / m["file"]).read_bytes() if "file" in m else None
            headers = [(h["key"], _raw(h["value"]) or b"") for h in m["headers"] or []]
            yield Message(m["partition"], m["offset"], _raw(m["key"]), headers, value)


def _raw(text: Any) -> bytes | None:
    """Returns the bytes of a key or a header, which are text, or base64 if they are not text."""
    if text is None:
        return None
    return base64.b64decode(text["base64"]) if isinstance(text, dict) else str(text).encode()


class Kafka:
    """Topics on a Kafka cluster, read by confluent-kafka without joining a consumer group.

    brokers is host:port, or several with commas between them. settings are those of librdkafka, such as {"security.protocol": "SSL"}.
    timeout is how many seconds to wait for an answer.
    """

    def __init__(self, brokers: str, settings: dict[str, Any] | None = None, timeout: float = 30) -> None:
        self.brokers = brokers
        self.settings = settings or {}
        self.timeout = timeout

    def messages(self, topic: str) -> Iterator[Message]:
        """Yields the messages of a topic."""
        import confluent_kafka as kafka

        consumer = kafka.Consumer({
            "group.id": "not-used", "isolation.level": "read_committed", "log_level": 4, **self.settings,
            "bootstrap.servers": self.brokers, "enable.auto.commit": False, "enable.partition.eof": True,
        })  # fmt: skip
        try:
            found = consumer.list_topics(topic, timeout=self.timeout).topics[topic]
            if found.error:
                raise kafka.KafkaException(found.error)
            consumer.assign([kafka.TopicPartition(topic, p, kafka.OFFSET_BEGINNING) for p in found.partitions])
            unread = set(found.partitions)
            while unread:
                m = consumer.poll(self.timeout)
                if m is None:
                    raise TimeoutError(f"no response about {topic} within {self.timeout:g} s")
                if m.error() and m.error().code() == kafka.KafkaError._PARTITION_EOF:
                    unread.discard(m.partition())
                elif m.error():
                    raise kafka.KafkaException(m.error())
                elif m.partition() in unread:  # later messages are left for the next call
                    yield Message(m.partition(), m.offset(), m.key(), m.headers() or [], m.value())
        except kafka.KafkaException as fault:
            raise ConnectionError(f"{topic} at {self.brokers}: {fault.args[0].str()}") from None
        finally:
            consumer.close()


class Batch(NamedTuple):
    """Rows of one message of features.

    at has the coordinates of the event, rows [n] the numbers of the rows in it, features is [n, M], table has all columns.
    """

    at: dict[str, Any]
    rows: npt.NDArray[np.int32]
    features: npt.NDArray[np.float32]
    table: pa.Table


class Topics:
    """The topics of one pipeline.

    They are named <pipeline>.events and so on, unless names says otherwise: {"events": "clicks"}.
    """

    def __init__(self, source: Source, pipeline: str = "default", names: dict[str, str] | None = None) -> None:
        self.source = source
        self.pipeline = pipeline
        self.names = names or {}

    def messages(self, topic: str) -> Iterator[Message]:
        """Yields the messages of events, feature-sets, features, models or another topic of the pipeline."""
        return self.source.messages(self.names.get(topic, f"{self.pipeline}.{topic}"))

    def feature_set(self, name: str | None = None) -> FeatureSet:
        """Returns the feature set with this id; without an id, the current one."""
        values, current = self._newest("feature-sets")
        return FeatureSet(self._named(values, name or current, "feature set"))

    def model(self, name: str | None = None) -> Model:
        """Returns the model with this id, or the current one without an id, together with its feature set."""
        values, current = self._newest("models")
        value = self._named(values, name or current, "model")
        return Model(value, self.feature_set(Model(value).feature_set_id))

    def features(self, feature_set: str) -> Iterator[Batch]:
        """Yields the rows on the topic that belong to one feature set, without duplicates."""
        seen: dict[int, Deduplicator] = defaultdict(Deduplicator)
        for m in self.messages("features"):
            at = coordinates(m.headers)
            if at["feature_set"] != feature_set or m.value is None:
                continue
            table, _ = messages.read(m.value, "eerf.features")
            rows = messages.column(table, "row")
            fresh = seen[at["source_partition"]].fresh(at, rows)
            yield Batch(at, rows[fresh], messages.column(table, "features")[fresh], table.filter(pa.array(fresh)))

    def _newest(self, topic: str) -> tuple[dict[str, bytes], str | None]:
        """Returns the messages of the pipeline on a compacted topic by id, and the id of the current one.

        A pointer with a lower sequence number than an earlier one does not count; a process that was paused may write such a pointer.
        """
        values: dict[str, bytes] = {}
        current, sequence = None, -1
        for m in self.messages(topic):
            owner, _, name = (m.key or b"").decode(errors="replace").rpartition("/")
            if owner != self.pipeline:
                continue
            if name != "current":
                values.pop(name, None)
                if m.value is not None:
                    values[name] = m.value
            elif m.value is not None:
                pointer = _pointer(m.value)
                if pointer is not None and pointer["sequence"] >= sequence:
                    current, sequence = pointer["id"], pointer["sequence"]
        return values, current

    def _named(self, values: dict[str, bytes], name: str | None, what: str) -> bytes:
        if name is None:
            raise LookupError(f"pipeline {self.pipeline} has no {what} yet")
        if name not in values:
            raise LookupError(f"pipeline {self.pipeline} has no {what} {name}")
        return values[name]


def _pointer(value: bytes) -> dict[str, Any] | None:
    """Returns the document of a pointer, or None for garbage, which its owner will overwrite."""
    try:
        return messages.read_control(value, "eerf.current")
    except FormatError:
        return None


def coordinates(headers: Headers) -> dict[str, Any]:
    """Returns the coordinates of the event in the headers of a features message. The last of duplicate headers counts."""
    h = {key: value.decode() for key, value in headers if key.startswith("eerf-")}
    names = ("source-partition", "source-offset", "first-row", "row-count", "source-rows")
    found: dict[str, Any] = {name.replace("-", "_"): int(h["eerf-" + name]) for name in names}
    return {**found, "feature_set": h["eerf-feature-set"], "source_topic": h["eerf-source-topic"], "source_log": h.get("eerf-source-log", "")}


class Deduplicator:
    """Drops duplicate rows of one partition of features."""

    def __init__(self) -> None:
        self.next: dict[str, tuple[int, int]] = {}  # by log of events

    def fresh(self, at: dict[str, Any], rows: Iterable[int]) -> npt.NDArray[np.bool_]:
        """Returns a mask of the new rows of a message with these coordinates, [n]."""
        offset, end = at["source_offset"], at["first_row"] + at["row_count"]
        first = self.next.get(at["source_log"], (-1, 0))
        mask = np.array([(offset, row) >= first for row in rows], dtype=bool)
        self.next[at["source_log"]] = max(first, (offset + 1, 0) if end == at["source_rows"] else (offset, end))
        return mask


def event(rows: Any) -> bytes:
    """Returns the message of events that holds these rows, in any form that FeatureSet.transform takes."""
    table = as_table(rows)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    value: bytes = sink.getvalue().to_pybytes()
    return value
