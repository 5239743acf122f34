"""Writes events with confluent-kafka's own serializers, which register their schemas: a line of JSON for each message, with what it
is and its bytes in hexadecimal. The test beside it reads them."""

import datetime
import decimal
import json
import sys

from confluent_kafka.schema_registry import SchemaRegistryClient
from confluent_kafka.schema_registry.avro import AvroSerializer
from confluent_kafka.schema_registry.json_schema import JSONSerializer
from confluent_kafka.schema_registry.protobuf import ProtobufSerializer
from confluent_kafka.serialization import MessageField, SerializationContext
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, timestamp_pb2

AVRO = {
    "type": "record", "name": "Event", "namespace": "shop", "fields": [
        {"name": "amount", "type": ["null", "double"], "default": None},
        {"name": "age", "type": "int"},
        {"name": "country", "type": "string"},
        {"name": "who", "type": {"type": "record", "name": "Who", "fields": [{"name": "member", "type": "boolean"}]}},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "v", "type": {"type": "array", "items": "double"}},
    ],
}
JSON_SCHEMA = {"$schema": "http://json-schema.org/draft-07/schema#", "title": "Event", "type": "object",
               "properties": {"amount": {"type": ["number", "null"]}, "age": {"type": "integer"}, "country": {"type": "string"}}}
AT = datetime.datetime(2023, 11, 14, 22, 13, 20, tzinfo=datetime.timezone.utc)


def protobuf_message():
    """Builds the type in memory: an import of the well-known timestamp, and the message as the second of its file."""
    f = descriptor_pb2.FileDescriptorProto(name="event.proto", package="shop", syntax="proto3")
    f.dependency.append("google/protobuf/timestamp.proto")
    f.message_type.add(name="Other")
    m = f.message_type.add(name="Event")
    kinds = descriptor_pb2.FieldDescriptorProto
    for number, (name, kind, label, type_name) in enumerate([
            ("amount", kinds.TYPE_DOUBLE, kinds.LABEL_OPTIONAL, None), ("age", kinds.TYPE_SINT32, kinds.LABEL_OPTIONAL, None),
            ("country", kinds.TYPE_STRING, kinds.LABEL_OPTIONAL, None),
            ("at", kinds.TYPE_MESSAGE, kinds.LABEL_OPTIONAL, ".google.protobuf.Timestamp"),
            ("v", kinds.TYPE_DOUBLE, kinds.LABEL_REPEATED, None)], start=1):
        m.field.add(name=name, number=number, type=kind, label=label, type_name=type_name)
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(timestamp_pb2.DESCRIPTOR.serialized_pb)
    pool.Add(f)
    cls = message_factory.GetMessageClass(pool.FindMessageTypeByName("shop.Event"))
    made = cls(amount=2.5, age=-7, country="se", v=[1, 2.5])
    getattr(made, "at").FromJsonString("2023-11-14T22:13:20Z")
    return cls, made


def main():
    client = SchemaRegistryClient({"url": sys.argv[1]})
    context = SerializationContext("events", MessageField.VALUE)
    event = {"amount": 2.5, "age": -7, "country": "se", "who": {"member": True}, "price": decimal.Decimal("-2.50"), "at": AT, "v": [1.0, 2.5]}
    cls, message = protobuf_message()
    made = {
        "avro": AvroSerializer(client, json.dumps(AVRO), conf={"subject.name.strategy": lambda *_: "avro-value"})(event, context),
        "avro null": AvroSerializer(client, json.dumps(AVRO), conf={"subject.name.strategy": lambda *_: "avro-value"})({**event, "amount": None}, context),
        "json": JSONSerializer(json.dumps(JSON_SCHEMA), client, conf={"subject.name.strategy": lambda *_: "json-value"})(
            {"amount": 2.5, "age": -7, "country": "se"}, context),
        "protobuf": ProtobufSerializer(cls, client, conf={"use.deprecated.format": False, "subject.name.strategy": lambda *_: "proto-value"})(message, context),
    }
    for name, value in made.items():
        print(json.dumps({"name": name, "value": value.hex()}))


main()
