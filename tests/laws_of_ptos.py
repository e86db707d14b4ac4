"""Control laws and signals of the tests of power take-offs."""

import math

import numpy as np


def push(t):
    """One newton more per second from t = 2 s on, both directions of arrays."""
    return t.__array_namespace__().maximum(t - 2.0, 0.0) if hasattr(t, "shape") else max(t - 2, 0.0)


def let_go(t, y):
    return 0.0 * y + t - 2.5  # passes 0.5 at t = 3 s


def one_of_two(t, y):
    """Plain Python: a branch that JAX could not trace."""
    assert isinstance(t, float)
    return [math.fabs(t - 2.5)] if t > 2.5 else [0.0]


def open_at_once(t, y):
    return 1.0 + 0.0 * t


def brake(t, y):
    return [-3.0 * float(np.asarray(y)[0])]


def two_values(t, y):
    return [1.0, 2.0]
