"""Small lines for tests."""

from functools import partial

import jax
import numpy as np

from swelltree.model.line_arrays import stack_lines

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
