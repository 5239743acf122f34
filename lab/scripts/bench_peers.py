#!/usr/bin/env python3
"""Measures numpy and scikit-learn at the shapes of this project's benchmarks, on one core.

    go test -run '^$' -bench 'Score|Transform' ./scoring | scripts/bench_peers.py [--seconds 0.3]

Reads the output of Go benchmarks. For every line of Score and Transform on one processor it prints lines of the same
name, with by=... at the end, in the same format: internal/tools/benchtable sets them side by side. What Python lacks is named
on standard error and left out.

All of it is float32. by=numpy-chunks works on 512 rows at a time in buffers that it keeps, as one would write it for
speed; by=numpy is the one-line form, whose time is for a good part that of getting fresh memory. by=scikit-learn is
RBFSampler.transform. The score is the sum over the rows of y times the feature alone: less than ours, which also sums
the features and their squares.
"""

import os

# Before numpy is imported: its BLAS reads these once.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"):
    os.environ[variable] = "1"

import argparse
import math
import re
import sys
import time

CHUNK = 512  # rows
NAME = re.compile(r"Benchmark(Score|Transform)/(\S+?)(-\d+)?\s")
# What a line may say in addition to its shape for these programs to do the same.
SAME = {"procs": {"1"}, "outputs": {"1", "values"}, "map": {"cosine"}, "sampler": {"iid"}}


def shapes(lines):
    """Yields (package, benchmark, rows, dim, features) of the lines that can be compared, each once."""
    package, seen = "", set()
    for line in lines:
        if line.startswith("pkg: "):
            package = line.split()[1]
        match = NAME.match(line)
        if not match:
            continue
        keys = dict(part.split("=", 1) for part in match[2].split("/") if "=" in part)
        try:
            shape = tuple(int(keys.pop(key)) for key in ("rows", "dim", "features"))
        except (KeyError, ValueError):
            continue
        one_core = keys.get("procs") == "1"
        found = (package, match[1], *shape)
        if one_core and found not in seen and all(v in SAME.get(k, ()) for k, v in keys.items()):
            seen.add(found)
            yield found


def scorers(np, x, omega, phase):
    """The ways to compute sum_n y_n cos(omega·x_n + phase)."""
    y = np.random.default_rng(3).standard_normal(len(x), dtype=np.float32)
    buffer = np.empty((CHUNK, omega.shape[1]), np.float32)

    def chunks():
        total = np.zeros(omega.shape[1])
        for first in range(0, len(x), CHUNK):
            rows = x[first : first + CHUNK]
            z = buffer[: len(rows)]
            np.matmul(rows, omega, out=z)
            np.add(z, phase, out=z)
            np.cos(z, out=z)
            total += y[first : first + CHUNK] @ z
        return total

    return {"numpy-chunks": chunks, "numpy": lambda: y @ np.cos(x @ omega + phase)}


def transformers(np, sklearn, x, omega, phase):
    """The ways to compute cos(omega·x_n + phase) times a scale."""
    scale = np.float32(1 / math.sqrt(omega.shape[1]))
    out = np.empty((len(x), omega.shape[1]), np.float32)

    def chunks():
        for first in range(0, len(x), CHUNK):
            z = out[first : first + CHUNK]
            np.matmul(x[first : first + CHUNK], omega, out=z)
            np.add(z, phase, out=z)
            np.cos(z, out=z)
            np.multiply(z, scale, out=z)
        return out

    ways = {"numpy-chunks": chunks, "numpy": lambda: np.cos(x @ omega + phase) * scale}
    if sklearn:
        sampler = sklearn(gamma=0.02, n_components=omega.shape[1], random_state=1).fit(x)
        ways["scikit-learn"] = lambda: sampler.transform(x)
        assert sampler.transform(x[:1]).dtype == np.float32
    return ways


def measure(call, seconds, clock=time.perf_counter):
    """Returns how often call was called, and the seconds of one call, after a call that is not counted."""
    call()
    start = clock()
    call()
    once = clock() - start
    count = max(1, math.ceil(seconds / max(once, 1e-9)))
    start = clock()
    for _ in range(count):
        call()
    return count, (clock() - start) / count


def sampler_class():
    try:
        from sklearn.kernel_approximation import RBFSampler

        return RBFSampler
    except ImportError:
        print("bench_peers.py: this Python has no scikit-learn: compared with numpy alone", file=sys.stderr)
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.3, help="how long to repeat each call (%(default)s)")
    seconds = parser.parse_args().seconds
    found = list(shapes(sys.stdin))
    try:
        import numpy as np
    except ImportError:
        print("bench_peers.py: this Python has no numpy: nothing to compare with", file=sys.stderr)
        return
    if not found:
        print("bench_peers.py: no Score or Transform on one processor in the input", file=sys.stderr)
    sklearn = sampler_class()
    for package, benchmark, rows, dim, features in found:
        random = np.random.default_rng(1)
        x = random.standard_normal((rows, dim), dtype=np.float32)
        omega = random.standard_normal((dim, features), dtype=np.float32) / np.float32(5)
        phase = random.uniform(0, 2 * math.pi, features).astype(np.float32)
        ways = scorers(np, x, omega, phase) if benchmark == "Score" else transformers(np, sklearn, x, omega, phase)
        print(f"pkg: {package}")
        for by, call in ways.items():
            count, took = measure(call, seconds)
            name = f"Benchmark{benchmark}/rows={rows}/dim={dim}/features={features}/procs=1/by={by}"
            print(f"{name} {count} {took * 1e9:.1f} ns/op {2 * rows * dim * features / took / 1e9:.4g} GF/s", flush=True)


if __name__ == "__main__":
    main()
