r"""Bodies on their way through the surface, without a flow of their own: pressure and added mass.

Around a body that hits the water the flow is singular at its waterline, which spreads faster than
waves: half of the work of the growing added mass goes into spray (von Karman 1929), and neither
panels at the waterline nor a linear free surface hold it. Until such a body is well under water it
is not in the mesh. The undisturbed pressure acts on its wet hull (`Hulls`), and the water that
moves with it has the momentum A(h) v of its depth h (`Immersions`), with the added mass on a free
surface that does not yet move, :math:`\phi = 0`:

.. math:: \tfrac12\phi - \int (\partial_n G - \partial_n G^*)\,\phi\,dS = -\int (G - G^*)\,n\,dS,
    \qquad A = -\rho\int \phi\, n\, dS

with the negative image :math:`G^*` above the surface.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float

from swelltree.describe import System
from swelltree.describe.bodies.meshes import Panels
from swelltree.hydro.froude_krylov.build import joined_triangles
from swelltree.hydro.froude_krylov.hulls import Hulls
from swelltree.hydro.splash_zone.immersions import COLUMNS, WIDTH, Immersions, depth_tables, wet_at
from swelltree.hydro.weak_scatterer.influence.sums import linear_densities
from swelltree.hydro.weak_scatterer.mesh.hulls import hull_mesh
from swelltree.hydro.weak_scatterer.mesh.surface import Surface
from swelltree.hydro.weak_scatterer.motion.mesher import DRY, Mesher
from swelltree.jit import Array, jitted, jnp, pytree
from swelltree.model.effect import Instant
from swelltree.model.model import Model
from swelltree.waves.sea import RealisedSea

if TYPE_CHECKING:
    from swelltree.hydro.weak_scatterer.effect import WeakScatterers

# wet height over that of the body at the rows of tables; beyond one it is covered
LEVELS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.0)
PANELS = 600  # of a whole hull


@pytree("numbers")
class Entry:
    """Pressure and added mass of bodies that may cross the surface.

    Args:
        hulls: of these bodies.
        group: their tables over the depth of the middle of the hull.
        tall: heights of the hulls [m].
        numbers: of these bodies among those of the weak scatterer.
    """

    hulls: Hulls
    group: Immersions
    tall: Array
    numbers: tuple[int, ...]

    def in_sea(self, model: Model, waves: RealisedSea, padded: bool) -> Entry:
        return replace(self, hulls=self.hulls.in_sea(model, waves, padded))


class EntryLoads(NamedTuple):
    """What the water does to bodies that are not in the mesh; zero for all others.

    Args:
        wrench: without the reaction of the added mass.
        added_mass: of the bodies of the weak scatterer.
        stored: energy of the displaced water and of that which moves, in still water [J].
        spray: power that goes into spray [W].
        volume: displaced [m^3].
    """

    wrench: Float[Array, "body dof"]
    added_mass: Float[Array, "dofs dofs"]
    stored: Array
    spray: Array
    volume: Float[Array, " body"]


def entry_loads(
    effect: WeakScatterers, model: Model, now: Instant, states: Float[Array, " body"]
) -> EntryLoads:
    """Of the bodies that count as dry.

    Args:
        effect: with bodies that may cross the surface.
        model: with this effect.
        now: the instant.
        states: what bodies count as.
    """
    entry = effect.entry
    assert entry is not None
    dry = jnp.where(states[np.array(entry.numbers)] == DRY, 1.0, 0.0)
    hulls = entry.hulls
    hulls = replace(
        hulls, triangles=replace(hulls.triangles, area=dry[:, None, None] * hulls.triangles.area)
    )
    group = entry.group
    _, depth, _ = group.depths(model, now.t, now.motion)
    covered = depth > 0.5 * entry.tall
    group = replace(
        group,
        tables=replace(group.tables, cubic=dry[:, None, None, None] * group.tables.cubic),
        # under water nothing sprays: the energy goes to and fro between body and water
        entry=jnp.where(covered, 0.5, 1.0),
        exit=jnp.where(covered, 0.5, 0.0),
    )
    rows, own = np.array(effect.bodies), np.array(entry.numbers)
    pressure, moving = hulls.loads(model, now), group.loads(model, now)
    added = group.six(now.motion, wet_at(group.tables, depth).added)
    place = np.zeros((len(own), len(rows)))
    place[np.arange(len(own)), own] = 1.0
    mass = jnp.einsum("eij,en,em->nimj", added, place, place)
    v = now.motion.v[np.array(group.body)]
    energy = 0.5 * jnp.einsum("ei,eij,ej->", v, added, v)
    lifted = 0.0 if pressure.potential is None else pressure.potential.sum()
    return EntryLoads(
        wrench=(pressure.wrench + moving.wrench)[rows],
        added_mass=mass.reshape(6 * len(rows), 6 * len(rows)),
        stored=lifted + energy,
        spray=moving.power[len(own) :].sum(),
        volume=pressure.channels["volume"][rows],
    )


# --- Tables


def build_entry(system: System, mesher: Mesher, bodies: tuple[int, ...]) -> Entry:
    """Of the bodies that may cross the surface.

    Args:
        system: as described.
        mesher: with all bodies.
        bodies: their numbers in the model.
    """
    rho, numbers = system.water.rho, mesher.crossing
    floaters = [mesher.floaters[k] for k in numbers]
    hulls, tables, middles, tall = [], [], [], []
    for floater in floaters:
        body = system.body(floater.name)
        R = np.eye(3) if floater.rotation is None else floater.rotation
        hull = hull_mesh(body, _panel_size(floater.surface))
        middle = 0.5 * (hull.vertices.min(0) + hull.vertices.max(0))
        turned = hull.moved(-R @ middle, R)
        tables.append(_table(turned, R, middle, rho))
        hulls.append(hull)
        middles.append(middle)
        tall.append(np.ptp(turned.vertices[:, 2]))
    e, model_bodies = len(numbers), tuple(bodies[k] for k in numbers)
    names = tuple(f.name for f in floaters)
    triangles = joined_triangles([(hull.vertices, hull.triangles) for hull in hulls])
    reach = max(float(np.linalg.norm(hull.vertices, axis=1).max()) for hull in hulls)
    return Entry(
        hulls=Hulls(triangles, None, names, model_bodies, reach),
        group=Immersions(
            point=np.array(middles),
            at=np.array(middles),
            tables=depth_tables(tables),
            entry=np.ones(e),
            exit=np.zeros(e),
            buoyant=np.zeros(e),
            body=model_bodies,
            names=(*names, *(f"{name} spray" for name in names)),
        ),
        tall=np.array(tall),
        numbers=numbers,
    )


def _panel_size(surface: Surface) -> float:
    """Side of panels of which a hull has some 600 [m]."""
    area = float(np.linalg.norm(surface.area_vectors, axis=1).sum())
    return (2.0 * area / PANELS) ** 0.5


def _table(
    hull: Surface, R: np.ndarray, middle: np.ndarray, rho: float
) -> tuple[np.ndarray, np.ndarray]:
    """Rows of depth and the columns of `depth_tables`.

    Args:
        hull: in world axes about its middle.
        R: rotation of the body.
        middle: of the hull, in body axes from the reference point.
        rho: of the water.
    """
    low, high = hull.vertices[:, 2].min(), hull.vertices[:, 2].max()
    depth = low + np.array(LEVELS) * (high - low)
    columns = np.zeros((len(depth), WIDTH))
    faces = hull.triangles[:, [0, 1, 2, 2]]
    wet = [Panels(hull.vertices - [0, 0, z], faces).immersed().triangles @ R for z in depth[1:]]
    up = R.T @ [0.0, 0.0, 1.0]
    columns[1:, COLUMNS["added"]] = added_masses(wet, up, rho)
    height = 0.5 * (low + np.minimum(depth, high))
    columns[:, COLUMNS["center"]] = middle + np.outer(height, up)
    return depth, columns


def added_masses(
    hulls: list[np.ndarray], up: np.ndarray, rho: float
) -> Float[np.ndarray, "hull xyz"]:
    """Added mass along three axes of wet hulls under a surface with no potential [kg].

    Args:
        hulls: triangles (k, 3, 3) of each, the surface through the origin [m].
        up: normal of the surface.
        rho: of the water.
    """
    most = max(map(len, hulls))
    result = []
    for triangles in hulls:
        padding = np.repeat(triangles[:1], most - len(triangles), axis=0)
        used = np.arange(most) < len(triangles)
        corners = np.concatenate([triangles, padding])
        result.append(rho * np.asarray(_added_mass(corners, used, np.asarray(up))))
    return np.array(result)


@jitted
def _added_mass(corners: Array, used: Array, up: Array) -> Array:
    """Diagonal of the added mass over the density, by constant values on triangles."""
    middle = corners.mean(1)
    vector = 0.5 * jnp.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = jnp.where(used, jnp.linalg.norm(vector, axis=1), 0.0)
    normal = vector / jnp.linalg.norm(vector, axis=1)[:, None]
    above = middle - 2.0 * (middle @ up)[:, None] * up
    count = len(corners)
    own = 1.0 - jnp.eye(count)

    def sums(points: Array, keep: Array) -> tuple[Array, Array]:
        found = linear_densities(corners, points)
        source, dipole = (x.sum(0).T * used[None] for x in found)
        return source, dipole * keep

    (S, D), (S_image, D_image) = sums(middle, own), sums(above, 1.0)
    left = 0.5 * jnp.eye(count) - (D - D_image)
    phi = jnp.linalg.solve(left, -(S - S_image) @ normal)
    return -(area[:, None] * phi * normal).sum(0)
