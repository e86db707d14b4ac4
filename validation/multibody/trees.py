r"""Matrices against closed forms and against one another.

The two-link arm of Paparella et al. (2015), eqs. 50-51, and, for a branched tree in space: the
velocity transformations of three formulations, the composite-body mass matrix, and
:math:`\dot M - 2C` skew, all within rounding.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from swelltree.compiler.compile import compile as compile_system
from swelltree.jit import Array, jax, jitted, jnp
from swelltree.model.model import Model, Start
from swelltree.multibody.formulations import formulation
from swelltree.multibody.formulations.base import Kinematics, State
from swelltree.multibody.formulations.partial_velocity import body_axes, body_mass, coriolis
from swelltree.multibody.inertia import dense_inertia
from swelltree.multibody.kinematics import forward, moved_positions, position_rates
from validation.multibody.systems import floating_tree, two_link
from validation.run import ALL
from validation.table import Check, case

ROUNDING = "rounding only, a few operations on numbers of order one"


def somewhere(model: Model, seed: int) -> Model:
    """The model started at random coordinates and velocities (trees only)."""
    rng = np.random.default_rng(seed)
    layout = model.layout
    n = layout.n_tree
    q = np.asarray(moved_positions(layout, model.start.q, 0.5 * rng.normal(size=n)))
    angles = np.array([q[layout.dof_position[k]] for k in layout.angle_dofs])
    return model.replace(start=Start(q, rng.normal(size=n), angles))


class Evaluated(NamedTuple):
    """A formulation at the model's start."""

    state: State
    kin: Kinematics
    mass: Array
    bias: Array

    @property
    def chosen(self) -> np.ndarray:
        """Which body velocities are the velocities s of an absolute formulation."""
        n = self.kin.P.shape[1]
        if isinstance(self.state.chart, tuple):
            return np.arange(n)
        return np.asarray(self.state.chart).astype(int)[-n:]


@functools.lru_cache
def _evaluator(name: str) -> Callable[..., Evaluated]:
    how = formulation(name)

    def evaluate(model: Model) -> Evaluated:
        state = how.start(model)
        kin = how.kinematics(model, jnp.zeros(()), state)
        return Evaluated(state, kin, how.mass(model, kin), how.bias(model, kin))

    return jax.jit(evaluate)


def evaluated(model: Model) -> dict[str, Evaluated]:
    """Every formulation at the model's start, numpy leaves."""
    return {name: jax.tree.map(np.asarray, _evaluator(name)(model)) for name in ALL}


def relative(ours: Array, target: Array) -> float:
    """Largest difference, in parts of the largest entry."""
    ours, target = np.asarray(ours), np.asarray(target)
    return float(np.abs(ours - target).max() / np.abs(target).max())


@jitted
def coriolis_matrix(model: Model) -> tuple[Array, Array, Array]:
    r"""M, its rate and C at the model's start, from partial velocities in body axes.

    .. math:: C = P_b^\top (M_{RB} \dot P_b + C_{RB}(\nu) P_b)

    Paparella et al. (2015), eq. 18 (C^g), without added mass.
    """
    how = formulation("partial_velocity")
    state = how.start(model)
    n = model.layout.n_tree

    def at(q: Array) -> tuple[Array, Array, Array]:
        kin = how.kinematics(model, jnp.zeros(()), State(q, state.s, ()))
        P_b = body_axes(kin)
        return P_b, how.mass(model, kin), (P_b * state.s).sum(-1)

    rate = position_rates(model.layout, state.q, state.s)
    (P_b, M, nu), (P_dot, M_dot, _) = jax.jvp(at, (state.q,), (rate,))
    force = body_mass(model) @ P_dot + coriolis(model, nu) @ P_b
    C = P_b.reshape(-1, n).T @ force.reshape(-1, n)
    return M, M_dot, C


@case("joints", "two_link", source="Paparella et al. (2015), eqs. 50-51")
def two_link_forms() -> list[Check]:
    """Mass and Coriolis matrix of two pivoted links, in absolute angles."""
    L1, Lc1, Lc2, m, inertia = 2.0, 1.0, 1.5, (3.0, 2.0), (0.7, 0.9)
    model = somewhere(compile_system(two_link(L1, Lc1, Lc2, m, inertia)), seed=1)
    # ours are the first angle and the second relative to it: s = T (th1', th2')
    T = np.array([[1.0, 0.0], [-1.0, 1.0]])
    th21 = np.asarray(model.start.q)[1]
    rates = np.linalg.solve(T, np.asarray(model.start.s))
    coupling = m[1] * L1 * Lc2
    mass = np.diag(
        [inertia[0] + m[0] * Lc1**2 + m[1] * L1**2, inertia[1] + m[1] * Lc2**2]
    ) + coupling * np.cos(th21) * np.array([[0.0, 1.0], [1.0, 0.0]])
    C = coupling * np.sin(th21) * np.array([[0.0, -rates[1]], [rates[0], 0.0]])
    M_ours, M_dot, C_ours = (T.T @ np.asarray(x) @ T for x in coriolis_matrix(model))
    skew = M_dot - 2.0 * C_ours
    masses, biases = in_tree_velocities(evaluated(model))
    worst_mass = max(relative(x, mass) for x in (M_ours, *(T.T @ x @ T for x in masses)))
    worst_bias = max(relative(T.T @ b, C @ rates) for b in biases)
    return [
        Check("mass matrix (50), five formulations", worst_mass, 1e-12, "", ROUNDING),
        Check("Coriolis matrix (51)", relative(C_ours, C), 1e-12, "", ROUNDING),
        Check("Coriolis force C s, five formulations", worst_bias, 1e-12, "", ROUNDING),
        Check("Mdot - 2C: symmetric part", relative(skew, -skew.T), 1e-12, "", ROUNDING),
    ]


def in_tree_velocities(by_form: dict[str, Evaluated]) -> tuple[list[Array], list[Array]]:
    """Mass matrices and biases of all formulations, the absolute ones brought to tree velocities.

    With their velocities s' = T s the mass is T^T M' T and the bias T^T (b' + M' Tdot s).
    """
    path = by_form["path_matrix"].kin
    masses, biases = [], []
    for name, one in by_form.items():
        M, b = one.mass, one.bias
        if name in ("partition", "lagrange"):
            T = path.P[one.chosen]
            Tdot_s = (path.bias_acceleration - one.kin.bias_acceleration).reshape(-1)[one.chosen]
            M, b = T.T @ M @ T, T.T @ (b + M @ Tdot_s)
        masses.append(M)
        biases.append(b)
    return masses, biases


@case("joints", "velocity_maps", source="one formulation against another")
def velocity_maps() -> list[Check]:
    """P, H and C of a branched tree in space."""
    worst: dict[str, float] = {}
    for seed in range(3):
        model = somewhere(compile_system(floating_tree()), seed)
        all_five = evaluated(model)
        path, split = all_five["path_matrix"].kin, all_five["partition"]
        P, M = path.P, np.asarray(dense_inertia(model, path.inertia))
        # partition takes some body velocities as its own: P_tree = P_partition P_tree[chosen]
        changed = split.kin.P @ P[split.chosen]
        _, M_dot, C = (np.asarray(x) for x in coriolis_matrix(model))
        skew = M_dot - 2.0 * C
        _, biases = in_tree_velocities(all_five)
        ours = {
            "partial": relative(all_five["partial_velocity"].kin.P, P),
            "partition": relative(changed, P),
            "H": relative(all_five["composite_body"].mass, P.T @ M @ P),
            "bias": max(relative(b, biases[0]) for b in biases[1:]),
            "skew": float(np.abs(skew + skew.T).max() / np.abs(M_dot).max()),
            "C s": relative(C @ model.start.s, biases[0]),
        }
        worst = {key: max(worst.get(key, 0.0), value) for key, value in ours.items()}
    reason = "rounding only, six bodies"
    return [
        Check("P of partial_velocity, world axes", worst["partial"], 1e-12, "", reason),
        Check("P of partition, change of basis", worst["partition"], 1e-12, "", reason),
        Check("H of composite_body - PᵀMP", worst["H"], 1e-12, "", reason),
        Check("bias, five formulations", worst["bias"], 1e-12, "", reason),
        Check("Mdot - 2C: symmetric part", worst["skew"], 1e-12, "", reason),
        Check("C s - bias", worst["C s"], 1e-12, "", reason),
    ]


@case("joints", "rate_of_P", source="derivative by autodiff")
def rate_of_P() -> list[Check]:
    """Body velocities are the rates of the poses, bias accelerations those of P."""
    model = somewhere(compile_system(floating_tree()), seed=5)
    kin = evaluated(model)["path_matrix"].kin

    @jax.jit
    def rates(model: Model) -> tuple[Array, Array]:
        how = formulation("path_matrix")
        q, s = how.start(model).q, how.start(model).s
        rate = position_rates(model.layout, q, s)

        def velocity(q: Array) -> Array:
            return how.kinematics(model, jnp.zeros(()), State(q, s, ())).P @ s

        _, pose = jax.jvp(lambda q: forward(model, q), (q,), (rate,))
        return pose.p, jax.jvp(velocity, (q,), (rate,))[1]

    p_dot, P_dot_s = rates(model)
    return [
        Check(
            "P s - rate of position",
            relative(kin.motion.v[:, :3], p_dot),
            1e-12,
            "",
            ROUNDING,
        ),
        Check(
            "Pdot s, written out - by autodiff",
            relative(kin.bias_acceleration.reshape(-1), P_dot_s),
            1e-12,
            "",
            ROUNDING,
        ),
    ]
