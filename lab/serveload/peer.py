"""scikit-learn behind FastAPI: random features of 77 columns and a logistic regression on them, as people serve such a model."""
import sys

import numpy as np
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import Response
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

COLUMNS, FEATURES = 77, 1000
random = np.random.default_rng(11)
x = random.normal(size=(4000, COLUMNS))
y = np.where(x[:, 0] * x[:, 1] + x[:, 2] > 0, "yes", "no")
model = make_pipeline(StandardScaler(), RBFSampler(gamma=0.01, n_components=FEATURES, random_state=1), LogisticRegression(max_iter=200)).fit(x, y)
names = [f"c{i}" for i in range(COLUMNS)]
app = FastAPI()


@app.get("/live")
async def live():
    return Response()


@app.post("/v1/predict")
async def predict(request: Request):
    rows = await request.json()
    values = np.array([[row[name] for name in names] for row in rows])
    probabilities = model.predict_proba(values)
    return {
        "predictions": model.classes_[probabilities.argmax(axis=1)].tolist(),
        "classes": model.classes_.tolist(),
        "probabilities": probabilities.tolist(),
    }


if __name__ == "__main__":
    host, port = sys.argv[1].rsplit(":", 1)
    uvicorn.run(app, host=host, port=int(port), log_level="error", access_log=False)
