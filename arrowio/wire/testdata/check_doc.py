"""Runs reader.py on messages and prints what it finds as JSON.

usage: check_doc.py MODULE DIRECTORY REQUEST, where REQUEST is a JSON document of inputs."""
import importlib.util
import json
import pathlib
import sys

spec = importlib.util.spec_from_file_location("reader", sys.argv[1])
reader = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reader)
messages = {p.stem: p.read_bytes() for p in pathlib.Path(sys.argv[2]).iterdir()}
request = json.loads(sys.argv[3])
found = {}

for name in ("mixed_set", "linear_set", "feature_set"):
    fs = reader.read_feature_set(messages[name])
    x = [reader.encode(fs["encoder"], row) for row in request["rows"]]
    found[name] = {
        "id": reader.feature_set_id(fs),
        "x": [row.tolist() for row in x],
        "features": reader.features(fs, x).tolist(),
    }

found["encoded"] = [[reader.encode(e["encoder"], row).tolist() for row in e["rows"]] for e in request["encoders"]]

model = reader.read_model(messages["model"])
both = reader.read_model_file(messages["model"] + messages["feature_set"])
found["model_file"] = [reader.model_id(both[0]), reader.feature_set_id(both[1])]
document, rows, z, table = reader.read_features(messages["features"])
f = reader.predict(model, z)
found["model"] = {"id": reader.model_id(model), "f": f.tolist(), "classes": reader.classes(model, f)}
found["features"] = {
    "feature_set": document["feature_set"], "rows": rows.tolist(), "z": z.tolist(),
    "labels": [table[name].to_pylist() for name in document["label_columns"]],
}
_, _, z, table = reader.read_features(messages["predictions"])
model_id, prediction, probabilities = reader.predictions(table)
found["predicted"] = {
    "model": model_id, "prediction": prediction, "probabilities": probabilities,
    "again": reader.probabilities(reader.predict(model, z)).tolist(),
}
found["scores"] = reader.scores([messages["checkpoint"]], fs["coding"]).tolist()
found["headers"] = reader.feature_headers([(h["Key"], h["Value"].encode()) for h in request["headers"]])
found["live"] = reader.live_errors([messages["block"], messages["block"]])
found["sampled"] = [reader.sampled(*row) for row in request["sampled"]]
found["held_out"] = [
    [reader.held_out(seed, reader.place(*at), fraction), reader.a_fifth(seed, reader.place(*at))]
    for seed, at, fraction in request["held_out"]
]
found["contents"] = [str(reader.content(row)) for row in request["contents"]]
found["xxh64"] = [str(reader.xxh64(bytes(range(n)))) for n in request["lengths"]]

keep = reader.Deduplicator()
found["fresh"] = [keep.fresh(dict(zip(("source_offset", "first_row", "row_count", "source_rows"), at), source_log=""), rows).tolist()
                  for at, rows in request["parts"]]

reader.read(messages["rejected_rows"], "eerf.rejected_rows")
for name in ("spec", "request", "current", "progress", "refusal"):
    found[name] = reader.read_control(messages[name], "eerf." + name)
print(json.dumps(found))
