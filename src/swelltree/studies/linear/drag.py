r"""Equivalent linearisation of drag in the frequency domain.

The force law f of each piece of drag is replaced by the linear one that is nearest in the mean
square over the motion,

.. math:: f(\bar w + w') \approx \overline{f} + B w', \qquad
          B = \overline{f\, w'^\top}\; \overline{w' w'^\top}^{\,-1}

over a cycle of a regular wave ("harmonic", 8/(3 pi) times the amplitude for f = |w| w), or over
a Gaussian sea ("stochastic", sqrt(8/pi) times the standard deviation; Borgman 1967). B and the
motion are found in turns until they agree. Relative to the water, drag also excites.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from swelltree.describe.errors import warn_user
from swelltree.hydro.morison.drag import DragPieces
from swelltree.model.model import Model
from swelltree.studies.linear.wave_forces import water_velocity

PHASES = 64  # samples of a cycle
NODES = 24  # of the Gaussian quadrature in each direction
ROUNDS = 200
MIN_SPEED = 1e-6  # m/s
TOLERANCE = 1e-6  # of the largest motion


class Waves(NamedTuple):
    omega: np.ndarray  # (c,) rad/s
    beta: np.ndarray  # (c,) rad
    amplitude: np.ndarray  # (c,) m
    width: np.ndarray | None = None  # (c,) rad/s: of the spectrum that each stands for


class LinearDrag(NamedTuple):
    """Linearised drag: damping of all bodies and excitation per metre."""

    damping: np.ndarray  # (6N, 6N), or (c, 6N, 6N) where it differs from wave to wave
    force: np.ndarray  # (c, 6N)


def cycle(amplitude: np.ndarray, mean: np.ndarray, piece: DragPieces) -> np.ndarray:
    """Equivalent matrices over one cycle of harmonic motions (c, k, m) complex."""
    phase = 2 * np.pi * (np.arange(PHASES) + 0.5) / PHASES
    turn = np.exp(-1j * phase).reshape(-1, 1, 1, 1)
    B = np.empty((*amplitude.shape, amplitude.shape[-1]))
    for c in range(len(amplitude)):
        w = np.real(turn[:, 0] * amplitude[c])
        f = piece.law(mean + w)
        fw = (f[..., :, None] * w[..., None, :]).mean(0)
        ww = (w[..., :, None] * w[..., None, :]).mean(0)
        B[c] = fw @ np.linalg.pinv(ww, rcond=1e-9, hermitian=True)
    return B


def gaussian(covariance: np.ndarray, mean: np.ndarray, piece: DragPieces) -> np.ndarray:
    """Equivalent matrices over Gaussian motions of given covariance (k, m, m)."""
    m = covariance.shape[-1]
    if m == 1:
        # rule of many nodes: the law has a kink
        x = (np.arange(4000) + 0.5) / 4000 * 12.0 - 6.0
        weight = np.exp(-0.5 * x**2) / np.exp(-0.5 * x**2).sum()
        z = x[:, None]
    else:
        x, weight = np.polynomial.hermite_e.hermegauss(NODES)
        weight = weight / weight.sum()
        z = np.stack([axis.ravel() for axis in np.meshgrid(*[x] * m, indexing="ij")], -1)
        weight = np.prod(
            np.stack([axis.ravel() for axis in np.meshgrid(*[weight] * m, indexing="ij")]), axis=0
        )
    values, Q = np.linalg.eigh(covariance)
    live = values > 1e-12 * np.maximum(values[:, -1:], 1e-300)
    spread = np.where(live, np.sqrt(np.maximum(values, 0.0)), 0.0)
    to_w = Q * spread[:, None, :]
    f = piece.law(mean + np.einsum("kij,nj->nki", to_w, z))
    fz = np.einsum("n,nki,nj->kij", weight, f, z)
    # Stein: the covariance of f and w through that of f and z
    inverse = np.where(live, 1.0 / np.where(live, spread, 1.0), 0.0)
    return (fz * inverse[:, None, :]) @ Q.transpose(0, 2, 1)


class DragSolver:
    """Finds drag and motion that agree.

    Args:
        model: the model.
        pieces: its drag at the equilibrium.
        waves: the waves.
        solve: motion of the bodies (c, 6N) per metre for a `LinearDrag`.
    """

    def __init__(
        self,
        model: Model,
        pieces: tuple[DragPieces, ...],
        waves: Waves,
        solve: Callable[[LinearDrag], np.ndarray] | None,
    ) -> None:
        self.model, self.pieces, self.waves, self.solve = model, pieces, waves, solve
        self.bodies = model.layout.n_bodies
        self.water = [
            np.einsum(
                "kij,ckj->cki", p.from_water, water_velocity(model, waves.omega, waves.beta, p.at)
            )
            for p in pieces
        ]

    def relative(self, X: np.ndarray) -> list[np.ndarray]:
        """Relative velocity of every piece per metre, (c, k, m)."""
        v = (-1j * self.waves.omega[:, None] * X).reshape(-1, self.bodies, 6)
        parts = zip(self.pieces, self.water, strict=True)
        return [u - np.einsum("kij,ckj->cki", p.from_body, v[:, p.body]) for p, u in parts]

    def matrices(self, X: np.ndarray, how: str) -> list[np.ndarray]:
        """B of every piece for the motion X."""
        a = self.waves.amplitude
        matrices = []
        for piece, w in zip(self.pieces, self.relative(X), strict=True):
            if how == "harmonic":
                matrices.append(cycle(a[:, None, None] * w, piece.mean, piece))
            else:
                both = w[..., :, None] * np.conj(w[..., None, :])
                covariance = 0.5 * np.einsum("c,ckij->kij", a**2, np.real(both))
                matrices.append(gaussian(covariance, piece.mean, piece))
        return matrices

    def linear(self, matrices: list[np.ndarray]) -> LinearDrag:
        """Damping and excitation of all pieces together."""
        N = self.bodies
        shape = matrices[0].shape[:-3]
        damping = np.zeros((*shape, N, 6, N, 6))
        force = np.zeros((len(self.waves.omega), N, 6), dtype=complex)
        for piece, u, B in zip(self.pieces, self.water, matrices, strict=True):
            OB = piece.to_wrench @ B
            blocks, push = OB @ piece.from_body, (OB @ u[..., None])[..., 0]
            for body in range(N):
                on_body = piece.body == body
                damping[..., body, :, body, :] += blocks[..., on_body, :, :].sum(-3)
                force[:, body] += push[:, on_body].sum(1)
        return LinearDrag(damping.reshape(*shape, 6 * N, 6 * N), force.reshape(-1, 6 * N))

    def small(self) -> LinearDrag:
        """What the law's own derivative at the mean gives, for motions that are small."""
        matrices = []
        for piece in self.pieces:
            k, m = piece.mean.shape
            matrices.append(
                gaussian(MIN_SPEED**2 * np.tile(np.eye(m), (k, 1, 1)), piece.mean, piece)
            )
        return self.linear(matrices)

    def run(self, how: str) -> tuple[np.ndarray, list[np.ndarray], int]:
        """Motion of the bodies per metre, B of every piece, and the number of rounds."""
        assert self.solve is not None
        size = self.waves.amplitude[:, None]
        # from the drag of bodies that stand still
        X = np.zeros((len(size), 6 * self.bodies), dtype=complex)
        matrices, change = self.matrices(X, how), np.inf
        for count in range(1, ROUNDS + 1):
            new = self.solve(self.linear(matrices))
            change = np.abs(size * (new - X)).max() / max(np.abs(size * new).max(), 1e-300)
            X = new
            if count > 1 and change < TOLERANCE:
                return X, matrices, count
            fresh = self.matrices(X, how)
            # the mean of old and new: plain iteration oscillates about a lightly damped resonance
            matrices = [0.5 * (old + b) for old, b in zip(matrices, fresh, strict=True)]
        warn_user(
            f"drag linearisation: the motion still changes by {100 * change:.2g} % after {ROUNDS} "
            "rounds. Compare with simulate."
        )
        return X, matrices, ROUNDS
