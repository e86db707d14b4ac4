"""Plain Python inside compiled programs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from swelltree.jit import Array, jax, jnp

STEP = 1e-6  # of the size of the argument, at least of one


def called_back(
    function: Callable[[Array, Array], np.ndarray], count: int, t: Array, y: Array
) -> Array:
    """Values (count,) of a plain function of a number and a vector, derivatives by differences."""
    shape = jax.ShapeDtypeStruct((count,), float)
    jacobian = jax.ShapeDtypeStruct((count, 1 + y.shape[0]), float)

    def differences(t: Array, y: Array) -> np.ndarray:
        x = np.concatenate([np.reshape(t, 1), y])
        columns = []
        for i, size in enumerate(np.maximum(np.abs(x), 1.0)):
            step = np.zeros_like(x)
            step[i] = STEP * size
            high, low = x + step, x - step
            rise = function(high[0], high[1:]) - function(low[0], low[1:])
            columns.append(rise / (2.0 * STEP * size))
        return np.stack(columns, axis=1)

    @jax.custom_jvp
    def call(t: Array, y: Array) -> Array:
        return jax.pure_callback(function, shape, t, y, vmap_method="sequential")

    @call.defjvp
    def slope(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
        t, y = primals
        J = jax.pure_callback(differences, jacobian, t, y, vmap_method="sequential")
        return call(t, y), J @ jnp.concatenate([jnp.reshape(tangents[0], 1), tangents[1]])

    return call(jnp.asarray(t, float), y)
