"""Small lines for tests."""

from dataclasses import replace
from functools import lru_cache, partial
from typing import NamedTuple

import jax
import numpy as np

import swelltree as sw
from swelltree.integrate.complementarity.relax import relaxed
from swelltree.integrate.complementarity.start import at_rest, set_up
from swelltree.integrate.complementarity.state import form_of
from swelltree.integrate.complementarity.step import advance
from swelltree.mooring.dynamic.arrays import stack_lines
from swelltree.studies.time.complementarity.start import derivatives_at

# compiling dominates short tests: leave the machine code as it comes
quick_jit = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})

CHAIN = {
    "mass_per_length": 150.0,
    "diameter": 0.15,
    "Cdn": 1.2,
    "Cdt": 0.1,
    "Can": 1.0,
    "Cat": 0.3,
    "kappa": 0.01,
}


def mixed_lines(**more):
    """Two lines of 5 and 7 segments, elastic and inextensible, as the keywords change them."""
    a = CHAIN | {"segments": 5, "rest_length": 4.0, "EA": 1e6, "lift": 0.3} | more
    b = CHAIN | {"segments": 7, "rest_length": 3.0, "EA": [np.inf, 2e6] + [np.inf] * 5} | more
    return stack_lines([a, b])


def curved(lines, rng, rough=0.3, depth=10.0):
    """Positions of the nodes along a bowed path with some noise; idle nodes on A."""
    nl, n = lines.n_lines, lines.n
    q = np.zeros((nl, n + 1, 3))
    for k in range(nl):
        first = int(lines.first[k])
        m = n - first
        s = np.linspace(0, 1, m + 1)
        length = lines.rest_length[k, first:].sum() * 0.97
        path = np.stack([length * s, 2.0 * k + 0 * s, -depth + 6 * s**3], -1)
        path = path + rough * rng.normal(size=path.shape)
        q[k, first:] = path
        q[k, : first + 1] = path[0]
    return q


def straight(a, b, n):
    """Nodes of a straight line from a to b (node, 3)."""
    s = np.linspace(0.0, 1.0, n + 1)[:, None]
    return np.asarray(a, float) * (1 - s) + np.asarray(b, float) * s


HAND = sw.Body("hand", mass=1e3, inertia=(1e3, 1e3, 1e3))  # what leads the ends of lines


def led_lines(lines, motion=None, water=None, **more):
    """Lines between fixed points, junctions and a hand that is held or led along its path."""
    if motion is None:
        joint = sw.Weld("held", sw.WORLD, HAND)
    else:
        joint = sw.SubsetJoint("led", sw.WORLD, HAND, dofs=tuple(motion), motion=motion)
    water = sw.Water(rho=1e-9) if water is None else water
    return sw.compile(sw.System("lines", [HAND], [joint], lines=lines, water=water, **more))


class Steps(NamedTuple):
    """Samples of the steps of a run, and the walk after the last."""

    state: object
    samples: object

    @property
    def lines(self):
        return self.samples.lines

    @property
    def report(self):
        return self.samples.lines.report

    @property
    def junctions(self):
        """Their places, that after the last step included (time + 1, junction, 3)."""
        return np.concatenate([self.lines.y, np.asarray(self.state.lines.y)[None]])


@lru_cache
def program(form, steps):
    def run(model, setup, state):
        return jax.lax.scan(lambda w, _: advance(model, form, setup, w), state, None, length=steps)

    return quick_jit(run)


def line_form(model, **more):
    return replace(form_of(model, "lagrange"), **more)


def placed(model, form, q=None, y=None, **more):
    """The walk at rest with lines and junctions at given places."""
    state = at_rest(model, form)
    q = state.lines.q if q is None else np.array(q, float)
    y = state.lines.y if y is None else np.array(y, float).reshape(-1, 3)
    nothing = 0.0 * state.lines.mu + 1.0
    return replace(
        state, lines=replace(state.lines, q=q, q_last=q, y=y, y_last=y, **({"mu": nothing} | more))
    )


def stepped(model, h, steps, state=None, form=None, theta=0.5):
    """Steps of the whole scheme from a walk, none of them helped when it fails."""
    form = line_form(model) if form is None else form
    state = at_rest(model, form) if state is None else state
    setup = set_up(model, form, h, derivatives_at(model)(state), theta=theta)
    after, samples = program(form, steps)(model, setup, state)
    return Steps(*jax.tree.map(np.asarray, (after, samples)))


def at_their_rest(model, state=None):
    """Sample of lines and junctions at rest."""
    form = line_form(model)
    one = program(form, 1)

    def step(*args):
        after, samples = one(*args)
        return jax.tree.map(np.asarray, after), jax.tree.map(lambda x: np.asarray(x)[0], samples)

    state = at_rest(model, form) if state is None else state
    rest = relaxed(step, model, form, state, derivatives_at(model))
    assert bool(rest.sample.solved)
    assert rest.moved < 1e-7
    return rest.sample.lines
