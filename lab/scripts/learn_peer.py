#!/usr/bin/env python3
"""Learns frequencies with numpy, on one core, at the size of this project's benchmark of the same.

    go test -run '^$' -bench '^BenchmarkLearn$' ./scoring/adaptive | scripts/learn_peer.py [--seconds 0.3]

Reads the output of Go benchmarks. For every line of BenchmarkLearn it prints two of the same name, with by=... at the end, in
the same format. Both make the steps of scoring/adaptive, with as many rounds, measurements and steps of refinement, though with
other draws, in float32, with no loop over rows or features but that of the greedy choice. by=numpy is written as the
formulas are; by=numpy-chunks maps 512 rows at a time, keeps the features of a pool that is scored again, and works in place where
it can.
Times are of the processor, as those of BenchmarkLearn: both programs have one thread.
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

import numpy as np

from bench_peers import CHUNK, measure

NAME = re.compile(r"BenchmarkLearn/(\S+?)(-\d+)?\s")
SCALES = np.array([0.5, 1, 2, 4], np.float32)
RIDGE = 1e-4
LEVELS = 10.0 ** np.arange(-8, 3)
PREFIXES = (1, 0.75, 0.5, 0.35, 0.25, 0.15, 0.1, 0.05)
ROUNDS, LAST_ROUND, STEPS, GUARDED_STEPS, MEMORY = 3, 3, 40, 4, 10
DIRECTIONS = 24
NO_BINS = np.zeros(0, int), np.zeros(0, np.float32), np.zeros(0, bool)


def draw_rows(rng, rows, dim):
    """Rows whose output waves along a few directions; every fifth is held out."""
    x = rng.standard_normal((rows, dim), dtype=np.float32)
    along = rng.standard_normal((dim, DIRECTIONS), dtype=np.float32) * np.float32(1.5 / math.sqrt(dim))
    y = np.sin(x @ along + np.arange(DIRECTIONS, dtype=np.float32)).sum(1)
    held = np.arange(rows) % 5 == 0
    return x[~held], y[~held], x[held], y[held]


class Learner:
    def __init__(self, rows, dim, candidates, features):
        self.rng = np.random.default_rng(1)
        self.x, self.y, self.held_x, self.held_y = draw_rows(self.rng, rows, dim)
        self.dim, self.candidates, self.features = dim, candidates, features
        self.sigma = np.float32(math.sqrt(dim))
        self.width = None

    # Candidates are cosines, omega [dim, count] and phase [count], and after them bins: columns, thresholds, and whether they are
    # boxes, as those after the hinges are.

    def first_pool(self, orders, bins=NO_BINS):
        omega = self.rng.standard_normal((self.dim, self.candidates), dtype=np.float32)
        count = self.candidates // len(orders)
        for i, order in enumerate(orders):
            part = omega[:, i * count : (i + 1) * count]
            if order:
                keep = self.rng.random(part.shape).argpartition(order, axis=0)[:order]
                values = np.take_along_axis(part, keep, 0) * np.float32(math.sqrt(self.dim / order))
                part[:] = 0
                np.put_along_axis(part, keep, values, 0)
        scale = np.resize(SCALES, self.candidates) if orders != (0,) else np.float32(1)
        return omega / (self.sigma * scale), self.phases(self.candidates), bins

    def bins(self):
        """Every column as it is, and a hinge and a box at 32 quantiles of it."""
        at = np.quantile(self.x, (np.arange(32) + 0.5) / 32, axis=0).astype(np.float32)
        hinges = np.concatenate([np.full((1, self.dim), -6, np.float32), at])
        columns = [np.tile(np.arange(self.dim), len(part)) for part in (hinges, at)]
        return np.concatenate(columns), np.concatenate([hinges.ravel(), at.ravel()]), np.arange(hinges.size + at.size) >= hinges.size

    def phases(self, count):
        return self.rng.uniform(0, 2 * math.pi, count).astype(np.float32)

    def score(self, pool, y):
        """Sums of features, of their squares and of their products with y."""
        z = self.map(pool, self.x)
        return np.stack([z.sum(0), (z**2).sum(0), y @ z]).astype(np.float64)

    def map(self, pool, x):
        return with_bins(np.cos(x @ pool[0] + pool[1]), pool[2], x)

    # The choice by residual.

    def choose(self, pool, sums):
        chosen, n, left = np.zeros(0, int), len(self.x), self.y
        steps, of_bins = [], self.features // 2 if len(pool[2][0]) else 0
        if of_bins:  # at first these alone
            steps.append((of_bins, 5 * of_bins, len(pool[1])))
        share = (self.features - of_bins + ROUNDS - 1) // ROUNDS
        for number in range(1, ROUNDS + 1):
            steps.append((of_bins + (self.features - of_bins) * number // ROUNDS, 5 * share, 0))
        for want, most, first in steps:
            if len(chosen):
                sums = self.score(pool, left)
            mean = sums[0] / n
            variance = sums[1] / n - mean**2
            value = (sums[2] / n - mean * left.mean()) ** 2 / np.maximum(variance, 1e-12)
            value[chosen] = 0
            value[:first] = 0
            best = np.argsort(-value, kind="stable")[:most]
            columns = np.sort(np.concatenate([chosen, best]))
            found, left = self.forward(pool, columns, np.searchsorted(columns, chosen), want)
            chosen = columns[found]
        return chosen

    def forward(self, pool, columns, before, want):
        """The features that lower the ridge objective most, one by one, after those chosen before; and what they leave of y."""
        z = self.map(pick(pool, columns), self.x)
        gram, cross, mean = moments(z, self.y)
        scale = 1 / np.sqrt(np.diag(gram))
        gram = gram * scale * scale[:, None]
        diagonal, left = np.full(len(columns), 1 + RIDGE), cross * scale
        factor, taken = np.zeros((want, len(columns))), []
        for t in range(want):
            i = int(before[t]) if t < len(before) else int(np.argmax(np.where(diagonal > 0, left**2 / np.where(diagonal > 0, diagonal, 1), 0)))
            root = math.sqrt(diagonal[i])
            row = (gram[i] - factor[:t, i] @ factor[:t]) / root
            row[taken] = 0
            row[i] = root
            solved = left[i] / root
            left = left - row * solved
            diagonal = np.maximum(diagonal - row**2, RIDGE / 2)
            factor[t] = row
            taken.append(i)
            diagonal[taken] = 0
        weights = np.linalg.solve(gram[np.ix_(taken, taken)] + RIDGE * np.eye(want), (cross * scale)[taken]) * scale[taken]
        z = z[:, taken]
        fitted = z @ weights.astype(np.float32)
        return taken, self.y - fitted - np.float32(self.y.mean() - mean[taken] @ weights)

    # The rounds.

    def slopes(self, pool):
        turns = self.x @ pool[0] + pool[1]
        return with_bins(np.cos(turns), pool[2], self.x), -np.sin(turns)

    def ridge(self, z, scale=None):
        gram, cross, mean = moments(z, self.y)
        scale = scale or gram.trace() / len(gram)
        gram[np.diag_indices_from(gram)] += RIDGE * scale
        theta = np.linalg.solve(gram, cross)
        return theta, self.y.mean() - mean @ theta, scale

    def gradients(self, pool):
        z, s = self.slopes(pool)
        theta, _, _ = self.ridge(z)
        theta = theta[: len(pool[1])]
        w = (s.T @ s).astype(np.float64) / len(s) * np.outer(theta, theta)
        g = pool[0].astype(np.float64) @ w @ pool[0].T
        values, vectors = np.linalg.eigh(g)
        values = np.maximum(values, 0) / values[-1] + RIDGE
        diagonal = np.diag(g)
        return [(vectors * values**p) @ vectors.T for p in (0.25, 0.5)], np.sqrt(diagonal / diagonal.max() + RIDGE)

    def bandwidths(self, bends):
        matrices, spread = bends
        x = self.x[np.arange(1000) * len(self.x) // 1000].astype(np.float32) if len(self.x) > 1000 else self.x
        found = []
        for turned in (x @ matrices[0].astype(np.float32), x @ matrices[1].astype(np.float32), x * spread.astype(np.float32)):
            found.append(self.bandwidth(turned))
        if self.width is None:  # the same in every round
            self.width = self.bandwidth(x)
        return found + [self.width]

    @staticmethod
    def bandwidth(x):
        squares = np.einsum("ij,ij->i", x, x)
        distances = squares + squares[:, None] - 2 * (x @ x.T)
        k = min(50, len(x) - 1)
        near = np.partition(distances, k, axis=1)[:, k]
        return np.sqrt(np.maximum(near, 0)).mean()

    def next_pool(self, winners, bends):
        matrices, spread = bends
        sigmas = self.bandwidths(bends)
        share = (self.candidates - self.features) // 6
        sizes = [self.candidates - self.features - 5 * share] + [share] * 3
        parts = [winners[0]]
        turns = (lambda u: matrices[0].astype(np.float32) @ u, lambda u: matrices[1].astype(np.float32) @ u,
                 lambda u: spread.astype(np.float32)[:, None] * u, lambda u: u)
        for size, sigma, turn in zip(sizes, sigmas, turns):
            u = self.rng.standard_normal((self.dim, size), dtype=np.float32)
            parts.append(turn(u) / (np.float32(sigma) * np.resize(SCALES, size)))
        weights = spread / spread.sum() + 1e-4
        sparse = np.zeros((self.dim, 2 * share), np.float32)
        # Gumbel's trick draws coordinates without repeats by their weights.
        keys = np.log(weights)[:, None] + self.rng.gumbel(size=sparse.shape)
        order = np.minimum(1 + np.arange(2 * share) // 4 % 4, self.dim)
        most = min(4, self.dim)
        best = np.argpartition(-keys, most - 1, axis=0)[:most]
        values = self.rng.standard_normal(best.shape, dtype=np.float32) / (np.sqrt(order).astype(np.float32) * np.resize(SCALES, 2 * share))
        values[np.arange(most)[:, None] >= order] = 0
        np.put_along_axis(sparse, best, values, 0)
        phase = np.concatenate([winners[1], self.phases(self.candidates - self.features)])
        return np.concatenate(parts + [sparse], axis=1), phase, winners[2]

    def judge(self, pool, prefixes=PREFIXES):
        """The least loss on the held-out rows, as a share of the variance, over λ and prefixes of the features."""
        z, held = self.map(pool, self.x), self.map(pool, self.held_x)
        gram, cross, mean = moments(z, self.y)
        losses = []
        for share in prefixes:
            m = int(share * len(gram))
            some, scale = gram[:m, :m], gram[:m, :m].trace() / m
            for level in LEVELS:
                theta = np.linalg.solve(some + level * scale * np.eye(m), cross[:m])
                fitted = held[:, :m] @ theta.astype(np.float32) + np.float32(self.y.mean() - mean[:m] @ theta)
                losses.append(((fitted - self.held_y) ** 2).mean())
        return min(losses) / self.held_y.var()

    # The refinement.

    def evaluate(self, parameters, scale=None, bins=NO_BINS):
        """J, its gradient and the scale of λ."""
        pool = self.pool_at(parameters, bins)
        z, s = self.slopes(pool)
        theta, intercept, scale = self.ridge(z, scale)
        theta32 = theta.astype(np.float32)
        e = z @ theta32
        e += np.float32(intercept)
        e -= self.y
        value = float(e.astype(np.float64) @ e) / len(e) + RIDGE * scale * float(theta @ theta)
        h = self.weighed(s, theta32[: len(pool[1])], e)
        by_omega, by_phase = self.x.T @ h, h.sum(0)
        return value, np.concatenate([by_omega.ravel(), by_phase]).astype(np.float64) * (2 / len(e)), scale

    def weighed(self, s, theta, e):
        return np.outer(e, theta) * s

    def pool_at(self, parameters, bins):
        split = len(parameters) // (self.dim + 1) * self.dim
        return parameters[:split].reshape(self.dim, -1).astype(np.float32), parameters[split:].astype(np.float32), bins

    def refine(self, pool):
        p = np.concatenate([pool[0].ravel(), pool[1]]).astype(np.float64)
        value, gradient, scale = self.evaluate(p, bins=pool[2])
        pairs, loss = [], math.inf
        for step in range(1, STEPS + 1):
            direction, length = self.direction(gradient, pairs), 1.0
            while True:
                moved = p + length * direction
                next_value, next_gradient, _ = self.evaluate(moved, scale, pool[2])
                if next_value <= value + 1e-4 * length * (gradient @ direction) or length < 1e-6:
                    break
                length /= 2
            pairs = (pairs + [(moved - p, next_gradient - gradient)])[-MEMORY:]
            p, value, gradient = moved, next_value, next_gradient
            if step % GUARDED_STEPS == 0:
                loss = min(loss, self.judge(self.pool_at(p, pool[2]), prefixes=(1,)))
        return loss, self.pool_at(p, pool[2])

    @staticmethod
    def direction(gradient, pairs):
        q, alphas = -gradient, []
        for s, y in reversed(pairs):
            alphas.append(s @ q / (s @ y))
            q = q - alphas[-1] * y
        if pairs:
            s, y = pairs[-1]
            q = q * (s @ y / (y @ y))
        else:
            q = q * min(1, 1 / math.sqrt(q @ q))
        for (s, y), alpha in zip(pairs, reversed(alphas)):
            q = q + (alpha - y @ q / (s @ y)) * s
        return q

    # Everything.

    def learn(self, sums, again=True):
        """All of it: two tracks, each refined, and with again a last round, refined too. sums are those of the first round of one
        track, which the stream has made. The other has bins in addition; what is drawn are cosines in both, because ramps, hinges
        and boxes take numpy no less time."""
        self.width, losses = None, []
        for pool in (self.first_pool((0, 1, 2, 3), self.bins()), self.streamed):
            winners = self.winners(pool, sums if pool is self.streamed else self.score(pool, self.y), losses)
            for _ in range(LAST_ROUND):
                winners = self.round(winners, losses)
            loss, winners = self.refine(winners)
            losses.append(loss)
        if again:
            winners = self.round(winners, losses)
            losses.append(self.refine(winners)[0])
        return losses

    def round(self, winners, losses):
        pool = self.next_pool(winners, self.gradients(winners))
        return self.winners(pool, self.score(pool, self.y), losses)

    def winners(self, pool, sums, losses):
        kept = self.choose(pool, sums)
        chosen = pick(pool, kept)
        losses.append(self.judge(chosen))
        return chosen

    def parts(self):
        """The parts of the benchmark by name."""
        self.streamed = self.first_pool((0, 1, 2, 3))
        sums = self.score(self.streamed, self.y)
        kept = self.choose(self.streamed, sums)
        winners = pick(self.streamed, kept)
        bends = self.gradients(winners)
        parameters = np.concatenate([winners[0].ravel(), winners[1]]).astype(np.float64)
        return {
            "all": lambda: self.learn(sums),
            "once": lambda: self.learn(sums, again=False),
            "score": lambda: self.score((*self.streamed,), self.y),  # of a pool that is new to it
            "choose": lambda: self.choose(self.streamed, sums),
            "gradients": lambda: self.gradients(winners),
            "pool": lambda: self.next_pool(winners, bends),
            "bandwidths": lambda: self.bandwidths(bends),
            "evaluate": lambda: self.evaluate(parameters, 0.5),
            "judge": lambda: self.judge(winners),
        }


class Chunks(Learner):
    """The same in chunks and in place."""

    def __init__(self, *shape):
        super().__init__(*shape)
        self.features_of, self.kept = None, np.empty((0, 0), np.float32)

    def score(self, pool, y):
        if pool is self.features_of:
            return np.stack([self.sums[0], self.sums[1], y @ self.kept])
        omega, phase, bins = pool
        if self.kept.shape != (len(self.x), len(phase) + len(bins[0])):
            self.kept = np.empty((len(self.x), len(phase) + len(bins[0])), np.float32)
        sums = np.zeros((3, self.kept.shape[1]))
        for first in range(0, len(self.x), CHUNK):
            rows = self.x[first : first + CHUNK]
            z = self.kept[first : first + CHUNK]
            cosines = z[:, : len(phase)]
            np.matmul(rows, omega, out=cosines)
            np.add(cosines, phase, out=cosines)
            np.cos(cosines, out=cosines)
            z[:, len(phase) :] = binned(bins, rows)
            sums[0] += z.sum(0)
            sums[1] += np.einsum("ij,ij->j", z, z)
            sums[2] += y[first : first + CHUNK] @ z
        self.features_of, self.sums = pool, sums
        return sums

    def map(self, pool, x):
        z = x @ pool[0]
        z += pool[1]
        return with_bins(np.cos(z, out=z), pool[2], x)

    def slopes(self, pool):
        z = self.x @ pool[0]
        z += pool[1]
        s = np.sin(z)
        np.negative(s, out=s)
        return with_bins(np.cos(z, out=z), pool[2], self.x), s

    def weighed(self, s, theta, e):
        s *= theta
        s *= e[:, None]
        return s


def pick(pool, columns):
    """Some of the candidates: of the cosines in the given order."""
    omega, phase, bins = pool
    own, others = columns[columns < len(phase)], np.sort(columns[columns >= len(phase)]) - len(phase)
    return omega[:, own], phase[own], tuple(part[others] for part in bins)


def binned(bins, x):
    columns, thresholds, boxes = bins
    v = x[:, columns] - thresholds
    hinges = np.count_nonzero(~boxes)
    return np.concatenate([np.maximum(v[:, :hinges], 0), v[:, hinges:] >= 0], axis=1)


def with_bins(z, bins, x):
    return np.concatenate([z, binned(bins, x)], axis=1) if len(bins[0]) else z


def moments(z, y):
    """Covariances of features and of features with y, and the means of the features."""
    mean = z.mean(0)
    centred = z - mean
    gram = (centred.T @ centred).astype(np.float64) / len(z)
    return gram, ((y - y.mean()) @ centred).astype(np.float64) / len(z), mean.astype(np.float64)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=0.3, help="how long to repeat each call (%(default)s)")
    seconds = parser.parse_args().seconds
    package, learners, seen = "", {}, set()
    for line in sys.stdin:
        if line.startswith("pkg: "):
            package = line.split()[1]
        match = NAME.match(line)
        if not match or match[1] in seen:
            continue
        seen.add(match[1])
        keys = dict(part.split("=", 1) for part in match[1].split("/"))
        shape = tuple(int(keys[key]) for key in ("rows", "dim", "candidates", "features"))
        if shape not in learners:
            learners[shape] = {"numpy": Learner(*shape).parts(), "numpy-chunks": Chunks(*shape).parts()}
            print(f"pkg: {package}")
        for by, parts in learners[shape].items():
            count, took = measure(parts[keys["part"]], seconds, time.process_time)
            print(f"BenchmarkLearn/{match[1]}/by={by} {count} {took * 1e9:.1f} ns/op", flush=True)


if __name__ == "__main__":
    main()
