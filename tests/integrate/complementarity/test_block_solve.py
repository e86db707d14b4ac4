"""The sweep against a dense solve, and the rows against their derivatives by autodiff."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from made_lines import curved, mixed_lines, quick_jit
from swelltree.integrate.complementarity.lines.forces import NodeWater, freeze
from swelltree.integrate.complementarity.lines.rows import assemble
from swelltree.integrate.complementarity.solve.block_solve import back_substitute, eliminate
from swelltree.mooring.seabed import make_bed

STRETCH = [[0, 0], [0.02, 1e4], [0.05, 6e4], [0.1, 3e5]]
# seabed, and how the lines differ from the plain ones
CASES = {
    "rigid": ({"depth": 10.0}, {}),
    "soft": ({"depth": 10.0, "stiffness": 1e5, "damping": 1e4, "friction": 0.4}, {}),
    "rough slope": ({"depth": 10.0, "slope": (0.1, 0.05), "friction": 0.4}, {}),
    "none": (None, {}),
    "clamped": ({"depth": 10.0}, {"EI": 5e4, "clamped": (1.0, 1.0)}),
    "pinned": ({"depth": 10.0, "friction": 0.3}, {"EI": 5e4}),
    "table": (None, {"stretch": STRETCH}),
    "bending table": (None, {"stretch": STRETCH, "EI": 5e4, "clamped": (1.0, 0.0)}),
    "winch": ({"depth": 10.0}, {}),
}
WINCH = 0.97, 1.02  # of the lengths, before and after
STEPS = [(0.0, 0.5), (1.0, 0.5), (0.0, 1.0)]  # start, theta


def setting(name):
    seabed, more = CASES[name]
    rng = np.random.default_rng(3)
    lines = mixed_lines(**more)
    bed = None if seabed is None else make_bed(**seabed)
    h = 0.1
    q_n = curved(lines, rng)
    q_minus = q_n - 0.1 * curved(lines, rng) + 0.1 * curved(lines, rng)
    q_plus = q_n - 0.1 * curved(lines, rng) + 0.1 * curved(lines, rng)
    water = NodeWater(
        velocity=rng.normal(size=q_n.shape),
        acceleration=rng.normal(size=q_n.shape),
        depth=np.full(q_n.shape[:2], 9.0),
        reach=np.ones(q_n.shape[:2]),
    )
    # lines that bend also push
    mu = 1e4 * (rng.random((lines.n_lines, lines.n)) - (0.5 if lines.bending else 0.0))
    nu = 1e3 * rng.random((lines.n_lines, lines.n + 1))
    idle = np.arange(lines.n) < lines.first[:, None]
    mu[idle] = 0.0
    excess = rng.normal(size=(lines.n_lines, 2, 3)), rng.normal(size=(lines.n_lines, 2, 3))
    rest = np.stack([x * lines.rest_length for x in WINCH], 1) if name == "winch" else None
    frozen = quick_jit(lambda q: freeze(lines, bed, q, water, 9.81, 1025.0, rest))(q_n)
    velocity = (q_plus - q_minus) / (2 * h)

    # friction forces along the bed, within and beyond what the contact forces can hold
    n = np.asarray(frozen.contact.normal)
    p = 500.0 * rng.normal(size=q_n.shape)
    p = jnp.asarray(p - (p * n).sum(-1, keepdims=True) * n)

    def rows(how, q, mu, nu, far, p=p):
        start, theta = how
        before = jnp.where(start > 0, q - 2 * h * velocity, q_minus)
        back = jnp.where(start > 0, far, excess[0])
        args = h, before, q_n, q, mu, nu, 1e-4, theta, start, (back, far)
        return assemble(lines, frozen, *args, rub=(0.3 * p, p))

    return lines, rows, (jnp.asarray(q_plus), jnp.asarray(mu), jnp.asarray(nu), excess[1], p)


DEFAULT = ("rough slope", "clamped")  # the others take another quarter of a minute


@pytest.mark.parametrize(
    "name",
    [n if n in DEFAULT else pytest.param(n, marks=pytest.mark.slow) for n in CASES],
)
def test_condensed_line_solves_the_linearised_rows_of_autodiff(name):
    """One Newton step by the sweep = dense Newton step with the Jacobian of autodiff."""
    lines, rows, x = setting(name)
    rng = np.random.default_rng(5)
    d_ends = rng.normal(size=(lines.n_lines, lines.n_ends, 3))
    d_far = jnp.asarray(d_ends[:, 2:] if lines.bending else np.zeros((lines.n_lines, 2, 3)))

    @quick_jit
    def newton(how, x):
        here = rows(how, *x)
        cond = eliminate(here)
        dx = back_substitute(cond, d_ends)
        dp = jnp.zeros_like(x[0])
        if here.rub is not None:
            dp = (
                here.rub + (here.rub_r * dx[0][:, :, None]).sum(-1) + here.rub_nu * dx[2][..., None]
            )

        def everything(q, mu, nu, far, p):
            r = rows(how, q, mu, nu, far, p)
            ghosts = jnp.zeros((2, 2, 3))
            if r.bending is not None:
                ghosts = jnp.stack([r.bending.force[:, 0], r.bending.force[:, -1]], 1)
            # the balance with the friction forces as they are
            R = r.R if r.rub is None else r.R + r.rub
            return R, r.F, r.bed_F, ghosts

        return cond.S, cond.end_force_residual, jax.jvp(everything, x, (*dx, d_far, dp))

    for how in STEPS:
        S, residual, (value, change) = newton(how, x)
        R, F, bed_F, ghosts = (np.asarray(v + c) for v, c in zip(value, change, strict=True))
        node = np.arange(lines.n + 1)
        inner = (node > lines.first[:, None]) & (node < lines.n)
        assert np.abs(R[inner]).max() < 1e-11 * np.abs(value[0]).max()
        assert np.abs(F).max() < 1e-11
        if CASES[name][0] is not None:
            assert np.abs(np.where(inner, bed_F, 0.0)).max() < 1e-11
        # the rows of the ends are what the condensed matrix says
        said = residual + (S @ d_ends.reshape(2, -1, 1)).reshape(2, -1, 3)
        at_A = np.stack([R[k, lines.first[k]] for k in range(2)])
        true = np.stack([at_A, R[:, -1]], 1)
        if lines.bending:  # idle nodes stand for the point beyond A
            idle = np.sum(np.where((node < lines.first[:, None])[..., None], R, 0.0), 1)
            true = np.concatenate([true, ghosts + np.stack([idle, 0 * idle], 1)], 1)
        assert np.abs(said - true).max() < 1e-11 * np.abs(true).max()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["rough slope", "none"])
def test_anchored_sweep_is_the_plain_one_with_its_first_end_held(name):
    lines, rows, x = setting(name)
    d = np.random.default_rng(1).normal(size=(lines.n_lines, 2, 3))
    d[:, 0] = 0.0
    how = (0.0, 0.5)
    plain, held = (quick_jit(lambda a=a: eliminate(rows(how, *x), a))() for a in (False, True))
    for a, b in (
        (plain.S[:, 3:, 3:], held.S),
        (plain.end_force_residual[:, 1:], held.end_force_residual),
        *zip(back_substitute(plain, d), back_substitute(held, d[:, 1:]), strict=True),
    ):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-12 * np.abs(a).max())


@pytest.mark.slow
def test_bending_sweep_without_stiffness_equals_the_plain_sweep():
    lines, _, x = setting("pinned")
    soft = replace(lines, EI=0.0 * lines.EI)
    plain = replace(soft, bending=False)
    q, mu, nu, far, _ = x
    frozen = freeze(soft, make_bed(depth=10.0), q, None, 9.81, 0.0)
    args = (0.1, q + 0.1, q, q, mu, nu)
    two = quick_jit(lambda: eliminate(assemble(soft, frozen, *args, excess=(far, far))))()
    one = quick_jit(lambda: eliminate(assemble(plain, frozen, *args)))()
    d = np.random.default_rng(0).normal(size=(2, 2, 3))
    full = np.concatenate([d, np.zeros((2, 2, 3))], 1)
    np.testing.assert_allclose(two.S[:, :6, :6], one.S, rtol=0, atol=1e-9 * np.abs(one.S).max())
    for a, b in zip(back_substitute(two, full), back_substitute(one, d), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-9 * max(1.0, np.abs(b).max()))
