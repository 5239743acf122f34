"""Writes what an ONNX graph of a model makes of rows, as the package in python/ writes its answers.

    python3 onnx_answers.py GRAPH ROWS OUT
"""
import pathlib
import re
import sys

import numpy as np
import onnxruntime
import pyarrow as pa


def documented():
    """Returns the Python of docs/serving.md."""
    page = pathlib.Path(__file__).parents[4] / "docs" / "serving.md"
    names = {}
    exec(re.search("```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL).group(1), names)
    return names


def column(name, values):
    """Returns an output [n, k] as a column."""
    if name == "class":
        return pa.array(values[:, 0].tolist(), pa.string()).dictionary_encode()
    if values.shape[1] == 1 and name == "prediction":
        return pa.array(values[:, 0])
    return pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), values.shape[1])


def main():
    graph, rows, out = sys.argv[1:]
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    with pa.OSFile(rows) as source:
        table = pa.ipc.open_stream(source).read_all()
    names = [output.name for output in session.get_outputs()]
    values = session.run(names, documented()["tensors"](session, table))
    answers = pa.table({name: column(name, v) for name, v in zip(names, values)})
    with pa.ipc.new_file(out, answers.schema) as writer:
        writer.write_table(answers)


main()
