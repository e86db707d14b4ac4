r"""Waves too short for the mesh, taken out around waterlines that move.

Derivatives in plan are one-sided at a waterline, and the mesh there moves through water that moves
too: values of neighbouring vertices drift apart, and without damping such saw teeth grow by a third
in every period of a wave. What is taken is the part r of a value that a quadratic through the
vertices around does not know,

.. math:: \dot f = -\frac{1}{a} R^\top (s\, a\, R f), \qquad
    R f = \frac{f - P f}{\sqrt{1 + |P|^2}}, \qquad s = s_0 \sqrt{g / h}

with the area a of each vertex, its size h, and the weights P of the quadratic. Fields that are
quadratic stay as they are. :math:`\sum a f` does too, so that no water is lost, and
:math:`\sum a f^2` never grows. The energy that it removes is accounted for.
"""

from __future__ import annotations

from jaxtyping import Float

from swelltree.hydro.weak_scatterer.mesh.gradients import Neighbours, quadratic_terms
from swelltree.hydro.weak_scatterer.motion.scene import Scene
from swelltree.jit import Array, jax, jnp

STRENGTH = 0.1  # s_0; between 0.02 and 0.3 waves around a hull in a wave change by a tenth at most


def smoothing_rates(
    scene: Scene, places: Float[Array, "surface xy"], values: Float[Array, "two surface"]
) -> Float[Array, "two surface"]:
    """What is taken from potential and elevation in a second.

    Args:
        scene: with hulls at its surface.
        places: of the vertices of the free surface in plan [m].
        values: potential and elevation there.
    """
    weights = around_weights(places, scene.neighbours)
    scale = 1.0 / jnp.sqrt(1.0 + (weights**2).sum(1))
    area = vertex_areas(scene, places)
    area = jnp.where(area > 0.0, area, 1.0)
    share = jnp.clip(sum(shell.follow.sum(1) for shell in scene.shells), 0.0, 1.0)
    strength = STRENGTH * share * jnp.sqrt(scene.g / jnp.sqrt(area))

    def rough(f: Array) -> Array:
        return scale * (f - (weights * f[scene.neighbours.number]).sum(1))

    def taken(f: Array) -> Array:
        r, transposed = jax.vjp(rough, f)
        return transposed(strength * area * r)[0] / area

    return jnp.stack([taken(values[0]), taken(values[1])])


def vertex_areas(scene: Scene, places: Float[Array, "surface xy"]) -> Float[Array, " surface"]:
    """Area in plan of each vertex of the free surface, a third of its triangles [m^2]."""
    boundary = scene.boundary
    tri = boundary.triangles[: boundary.surface_triangles]
    corner = places[tri]
    one, two = corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]
    area = 0.5 * jnp.abs(one[:, 0] * two[:, 1] - one[:, 1] * two[:, 0])
    if boundary.used is not None:
        area = area * boundary.used.top
    each = jnp.broadcast_to(area[:, None] / 3.0, tri.shape)
    return jnp.zeros(boundary.surface).at[tri].add(each)


def around_weights(
    places: Float[Array, "vertex xy"], around: Neighbours
) -> Float[Array, "vertex place"]:
    """Weights of the values around a vertex in that of their quadratic at it.

    Args:
        places: x and y of the vertices [m].
        around: their neighbours.
    """
    terms, weight, _ = quadratic_terms(places, around)
    basis = jnp.concatenate([terms, jnp.ones_like(terms[:, :, :1])], -1)
    normal = jnp.einsum("nk,nki,nkj->nij", weight, basis, basis)
    return weight * jnp.einsum("nki,ni->nk", basis, _last_column(normal))


def _last_column(A: Float[Array, "vertex m m"]) -> Float[Array, "vertex m"]:
    """Of the inverses of many small positive matrices, by elimination written out.

    (LAPACK's batches wait for threads of the pool that they run in: two at a time lock two cores.)
    """
    m = A.shape[-1]
    row = [[A[:, i, j] for j in range(m)] for i in range(m)]
    for k in range(m):
        for i in range(k + 1, m):
            factor = row[i][k] / row[k][k]
            row[i] = [*row[i][: k + 1], *(row[i][j] - factor * row[k][j] for j in range(k + 1, m))]
    # the right side, zero but for its last entry, stays as it is
    found = [1.0 / row[m - 1][m - 1]]
    for k in reversed(range(m - 1)):
        rest = sum(row[k][j] * found[j - k - 1] for j in range(k + 1, m))
        found.insert(0, -rest / row[k][k])
    return jnp.stack(found, -1)
