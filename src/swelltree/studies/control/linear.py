r"""The linearised system as its driven elements see it, harmonic by harmonic.

With D the impedance of the system without the elements' own springs and dampers, G the rows of
their strokes and exp(-iwt),

.. math::
    v_k = Y_k F_k + v^0_k, \qquad Y_k = -i\omega_k G D_k^{-1} G^\top, \qquad
    v^0_k = -i\omega_k G D_k^{-1} P^\top \hat F_k

so that everything else is eliminated exactly. Y = Z^{-1} is the mobility, v0 the motion under
the waves alone.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.linear.frame import columns_in_axes
from swelltree.hydro.linear.hydro import without_table
from swelltree.integrate.fourier import from_complex
from swelltree.jit import Points, Tree, jnp
from swelltree.model.model import Model
from swelltree.multibody.formulations import Formulation, State
from swelltree.spatial.rotations import compact
from swelltree.studies.control.actuators import Place, Ports, port_motion, port_rows
from swelltree.studies.control.limited import Response, rate_of
from swelltree.studies.linear.linear_model import LinearModel
from swelltree.waves.airy import Components
from swelltree.waves.sea import RealisedSea

SOFT = 1e-9  # of the largest stiffness: nothing holds this direction in the mean


@dataclass(frozen=True)
class Port:
    """Mobility at the driven elements for one period and number of harmonics, in any sea."""

    omega: float  # rad/s, of the period
    frequencies: np.ndarray  # (N,) rad/s, of the harmonics
    mobility: np.ndarray  # (N, p, p) Y, exp(-iwt)
    inverse: np.ndarray  # (N, n, n) D^-1
    rows: np.ndarray  # (p, n) strokes per free direction
    to_bodies: np.ndarray  # (6N, n)
    heading: np.ndarray | None  # (N,) yaw of the bodies at the equilibrium [rad]
    compliance: np.ndarray  # (p, p) mean stroke per mean u
    rest_stroke: np.ndarray  # (p,) at rest
    rest_force: np.ndarray  # (p,) F at rest
    mean: np.ndarray  # (p,) bool: a mean of u is held by something
    ports: Ports
    clipped: tuple[int, ...]  # harmonics whose negative damping was set to zero

    @property
    def harmonics(self) -> int:
        """Number of harmonics."""
        return len(self.mobility)


def look_in(
    model: Model,
    how: Formulation,
    ports: Ports,
    period: float,
    harmonics: int,
    linear: LinearModel,
    frequencies: np.ndarray | None = None,
) -> Port:
    """Condense a model to its driven elements.

    Args:
        model: compiled, its ports without signals.
        how: formulation.
        ports: driven elements.
        period: [s].
        harmonics: N.
        linear: the model about its equilibrium.
        frequencies: any frequencies in place of the harmonics [rad/s].
    """
    G = port_rows(ports, linear)
    omega = 2 * np.pi / period
    w = omega * np.arange(1, harmonics + 1) if frequencies is None else frequencies
    # the driven elements' own springs and dampers are part of F
    springs, dampers = (G.T * ports.stiffness) @ G, (G.T * ports.damping) @ G
    D = linear.harmonic_impedance(w) + 1j * w[:, None, None] * dampers - springs
    inverse = np.linalg.inv(D)
    mobility, clipped = _passive(-1j * w[:, None, None] * (G @ inverse @ G.T))
    compliance, has_mean = _mean(linear.stiffness, G)
    x = rest_strokes(model, how, ports, linear.at.state)
    return Port(
        omega,
        w,
        mobility,
        inverse,
        G,
        linear.to_bodies,
        linear.at.heading,
        compliance,
        x,
        -ports.stiffness * x,
        has_mean,
        ports,
        clipped,
    )


def rest_strokes(model: Model, how: Formulation, ports: Ports, rest: State) -> np.ndarray:
    """Strokes at equilibrium."""
    bare = without_table(model)
    return np.asarray(_strokes(how, ports.place)(bare, rest)) - ports.zero


@functools.lru_cache(maxsize=32)
def _strokes(how: Formulation, place: Place) -> Tree:
    """Program for the strokes, not relative to their zero."""
    nothing = np.zeros(len(place))
    ports = Ports(("",) * len(place), place, nothing, nothing, nothing, (False,) * len(place))

    def strokes(model: Model, rest: State) -> Tree:
        with compact():
            motion = how.kinematics(model, jnp.zeros(()), rest).motion
        return port_motion(ports, model, motion)[0]

    return Points(strokes)


def _passive(Y: np.ndarray) -> tuple[np.ndarray, tuple[int, ...]]:
    """Mobility without its negative damping, an error of the data."""
    even = 0.5 * (Y + np.conj(np.swapaxes(Y, 1, 2)))
    value, vector = np.linalg.eigh(even)
    bad = value.min(axis=1) < -1e-12 * np.abs(Y).max(axis=(1, 2))
    good = (vector * np.maximum(value, 0.0)[:, None, :]) @ np.conj(np.swapaxes(vector, 1, 2))
    fixed = np.where(bad[:, None, None], good + Y - even, Y)
    return fixed, tuple(int(k) + 1 for k in np.flatnonzero(bad))


def _mean(K: np.ndarray, G: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean strokes per mean force, and the elements that can have one."""
    size = np.sqrt(np.maximum(np.abs(np.diag(K)), np.abs(K).max(initial=0.0) * 1e-12) + 1e-300)
    U, value, Vt = np.linalg.svd(K / np.outer(size, size))
    soft = value < SOFT * max(value.max(initial=0.0), 1e-300)
    inverse = (Vt[~soft].T / value[~soft]) @ U[:, ~soft].T / np.outer(size, size)
    reach = np.abs(G / size @ Vt[soft].T).max(axis=1, initial=0.0)
    has_mean = reach < 1e-6 * np.abs(G / size).max(axis=1)
    return G @ inverse @ G.T * np.outer(has_mean, has_mean), has_mean


def wave_forces(linear: LinearModel, port: Port, waves: RealisedSea | None) -> np.ndarray:
    """Excitation of all bodies by harmonic, (N, 6N) complex."""
    if not isinstance(waves, Components):
        raise SwelltreeError(
            "optimal_control: this sea is not linear and the linear method cannot take it. "
            "Use method='nonlinear'."
        )
    out = np.zeros((port.harmonics, len(port.to_bodies)), dtype=complex)
    by_data = linear.excitation.by_data
    if by_data is None:
        raise SwelltreeError("optimal_control: the model has no hydro data. Compile with hydro=...")
    inside = by_data.in_band(waves)
    w = np.asarray(waves.omega)[inside]
    force = linear.excitation(w, np.asarray(waves.beta)[inside])
    force = force * np.asarray(waves.complex_amplitude)[inside][:, None]
    number = np.round(w / port.omega).astype(int)
    np.add.at(out, number - 1, force)
    return out


def wave_rates(port: Port, excitation: np.ndarray) -> np.ndarray:
    """v0: rates of the driven elements in waves without control, (N, p) complex."""
    moved = port.inverse @ (excitation @ port.to_bodies)[..., None]
    return -1j * port.frequencies[:, None] * (port.rows @ moved)[..., 0]


def body_motion(port: Port, excitation: np.ndarray, force: np.ndarray) -> np.ndarray:
    """Displacements of all bodies (N, 6N) under the waves and the forces F (N, p), complex.

    In the axes of their headings at the equilibrium.
    """
    load = excitation @ port.to_bodies + force @ port.rows
    to_displacements = columns_in_axes(port.heading, port.to_bodies)
    return (port.inverse @ load[..., None])[..., 0] @ to_displacements.T


def linear_response(port: Port, waves_alone: np.ndarray) -> tuple[Tree, int]:
    """Function z -> Response, and the number of unknowns.

    z holds, element by element, the mean of u where something holds it, and the cosines and
    sines of F.
    """
    N, p = port.harmonics, len(port.ports)
    c, size = 2 * N + 1, p * (2 * N + 1)
    w = port.frequencies
    T = port.mobility / (-1j * w)[:, None, None]
    d_force, d_stroke = np.zeros((c, p, p, c)), np.zeros((c, p, p, c))
    cos, sin = np.arange(1, N + 1), np.arange(N + 1, c)
    for i in range(p):
        d_force[cos, i, i, cos] = d_force[sin, i, i, sin] = 1.0
        for j in range(p):
            d_stroke[cos, i, j, cos] = d_stroke[sin, i, j, sin] = T[:, i, j].real
            d_stroke[cos, i, j, sin] = -T[:, i, j].imag
            d_stroke[sin, i, j, cos] = T[:, i, j].imag
            d_stroke[0, i, j, 0] = port.compliance[i, j]
            d_force[0, i, j, 0] = (i == j) * port.mean[i] - (
                port.ports.stiffness[i] * port.compliance[i, j]
            )
    used = np.ones((p, c), bool)
    used[:, 0] = port.mean
    keep = used.reshape(-1)
    d_force = d_force.reshape(c, p, size)[..., keep]
    d_stroke = d_stroke.reshape(c, p, size)[..., keep]
    d_rate = rate_of(port.omega, d_stroke)
    x0 = from_complex(
        np.concatenate([port.rest_stroke[None] + 0j, waves_alone / (-1j * w)[:, None]])
    )
    v0 = from_complex(np.concatenate([np.zeros((1, p)) + 0j, waves_alone]))
    F0 = np.zeros((c, p))
    F0[0] = port.rest_force

    def response(z: np.ndarray) -> Response:
        return Response(
            x0 + d_stroke @ z, v0 + d_rate @ z, F0 + d_force @ z, d_stroke, d_rate, d_force
        )

    return response, int(keep.sum())


def power_bound(port: Port, waves_alone: np.ndarray) -> float:
    """Maximum power of any force: sum of F^H (Re Z)^-1 F / 8 over the harmonics [W]."""
    even = 0.5 * (port.mobility + np.conj(np.swapaxes(port.mobility, 1, 2)))
    moved = np.abs(waves_alone).max(axis=1)
    Y, v = even[moved > 0.0], waves_alone[moved > 0.0][..., None]
    force = np.linalg.pinv(Y, rcond=1e-14, hermitian=True) @ v
    if (np.abs(Y @ force - v).max(axis=(1, 2)) > 1e-6 * moved[moved > 0.0]).any():
        return np.inf
    return float(np.real(np.conj(v) * force).sum()) / 8.0


def damped(port: Port, waves_alone: np.ndarray, damping: np.ndarray) -> tuple[Tree, Tree, Tree]:
    """Complex strokes, rates and forces (N, p) with dampers (p,) parallel to the springs."""
    w = port.frequencies[:, None]
    law = damping + port.ports.stiffness / (-1j * w)
    eye = np.eye(len(damping))
    v = np.linalg.solve(eye + port.mobility * law[:, None, :], waves_alone[..., None])[..., 0]
    return v / (-1j * w), v, -law * v
