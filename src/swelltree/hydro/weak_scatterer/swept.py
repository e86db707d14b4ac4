r"""What waterlines sweep over while they move.

A linear free surface lies on the incident one, and a waterline that moves in plan with w covers or
uncovers what stands on it: per unit of plan f, water of the height :math:`\eta` or its energy
:math:`\tfrac12 g\eta^2`,

.. math:: \oint f(\eta)\, w\cdot n\, ds ,

of second order and more. It is taken from the surface and given to nothing, so it has terms of its
own in the balances of mass and energy.
"""

from __future__ import annotations

from collections.abc import Callable

from swelltree.hydro.weak_scatterer.motion.hydrodynamics import Placed
from swelltree.hydro.weak_scatterer.motion.scene import Scene
from swelltree.hydro.weak_scatterer.motion.strip import swept_weights, waterlines
from swelltree.jit import Array, jnp


def swept(scene: Scene, placed: Placed, eta: Array, of: Callable[[Array], Array]) -> Array:
    """The integral over all waterlines, positive where the free surface loses area.

    Args:
        scene: the water and its bodies; of half a tank one half.
        placed: the boundary.
        eta: elevation of the perturbation [m].
        of: what stands on a unit of plan where the elevation is so high.
    """
    if placed.vertex_velocity is None:
        return jnp.zeros(())
    lines = waterlines(scene, placed.vertices[:, :2])
    one, two = eta[lines.first], eta[lines.second]
    c = swept_weights(lines, (of(one), of(two), of(0.5 * (one + two))), len(eta))
    return (c * placed.vertex_velocity).sum()
