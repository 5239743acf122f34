"""Asks a server for features as Triton's HTTP client asks Triton, with tensors in binary, which is its default, and in JSON."""
import sys

import numpy as np
import tritonclient.http as triton
from tritonclient.utils import InferenceServerException

ROWS = {
    "age": ("FP64", np.array([31.0, 50.0])),
    "city": ("BYTES", np.array(["Rome", "Atlantis"], dtype=object)),
    "member": ("BOOL", np.array([True, False])),
    "income": ("INT64", np.array([1000, 2000])),
}

client = triton.InferenceServerClient(sys.argv[1])
assert client.is_server_live() and client.is_server_ready() and client.is_model_ready("default")
metadata = client.get_model_metadata("default")
assert {i["name"] for i in metadata["inputs"]} == set(ROWS), metadata
assert [o["name"] for o in metadata["outputs"]] == ["features"], metadata
answers = []
for binary in (True, False):
    inputs = []
    for name, (datatype, values) in ROWS.items():
        one = triton.InferInput(name, list(values.shape), datatype)
        one.set_data_from_numpy(values, binary_data=binary)
        inputs.append(one)
    for outputs in (None, [triton.InferRequestedOutput("features", binary_data=binary)]):
        answer = client.infer("default", inputs, outputs=outputs, request_id="7")
        response = answer.get_response()
        assert response["id"] == "7" and response["model_version"] == metadata["versions"][0], response
        answers.append(answer.as_numpy("features"))
        assert answers[-1].shape == (2, 16) and np.array_equal(answers[-1], answers[0])
try:
    client.infer("other", inputs)
except InferenceServerException as fault:
    assert "is not served" in str(fault), fault
else:
    sys.exit("another model is there")
