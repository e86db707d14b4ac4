"""What a step holds fixed at t_n: masses, weights, fluid forces and the bed under every node.

Half of each segment belongs to each of its nodes. The multiplier of a segment acts on q_+, q_-;
everything here is taken at q_n, only drag, lift and friction see the velocity (q_+ - q_-)/(2h).
"""

from __future__ import annotations

from jaxtyping import Float

from swelltree.integrate.complementarity.lines.stretch import SlowSpring
from swelltree.jit import Array, jax, jnp, pytree
from swelltree.mooring.dynamic.arrays import LineArrays
from swelltree.mooring.seabed import Bed, Contact, contact_under

MIN_REACH = 1e-9  # m: of a line without thickness along the surface
TINY = 1e-20  # m^2: a node whose two segments have collapsed has no direction


@pytree()
class NodeWater:
    """The water at the nodes of all lines.

    Args:
        velocity: (line, node, 3) [m/s].
        acceleration: (line, node, 3) [m/s^2].
        depth: of the middle of each node's part of its line below the surface (line, node) [m].
        reach: how far that part goes up and down from its middle (line, node) [m].
    """

    velocity: Array
    acceleration: Array
    depth: Array
    reach: Array

    @property
    def wet(self) -> Array:
        """Submerged fraction of the node, 0 to 1."""
        return jnp.clip(0.5 + 0.5 * self.depth / self.reach, 0.0, 1.0)


def node_parts(lines: LineArrays, q: Array) -> tuple[Array, Array]:
    """Height of the middle of each node's part of its line above the node, and its reach [m].

    A part goes half way to the neighbours, from an end of the line to one side only. Inner nodes
    are the middle of theirs: with a middle that depends on the neighbours a line that floats
    would come to rest in zigzag.

    Args:
        lines: all lines.
        q: positions of their nodes (line, node, 3) [m].
    """
    thick = 0.25 * lines.diameter
    rise = 0.25 * (q[:, 1:, 2] - q[:, :-1, 2])
    half, none = jnp.abs(rise) + thick, jnp.zeros_like(rise[:, :1])
    reach = jnp.concatenate([thick[:, :1], half], 1) + jnp.concatenate([half, thick[:, -1:]], 1)
    node = jnp.arange(q.shape[1])
    at_A = node == jnp.asarray(lines.first)[:, None]
    up, down = jnp.concatenate([rise, none], 1), jnp.concatenate([none, -rise], 1)
    middle = jnp.where(at_A, up, jnp.where(node == node[-1], down, 0.0))
    return middle, reach + MIN_REACH


@pytree()
class LaggedCoefficients:
    """Data of a step at q_n, (line, ...).

    Args:
        mass: of the nodes with the water they carry (line, node, 3, 3) [kg].
        scale: mean of its diagonal (line, node) [kg].
        force: weight, buoyancy and inertia of the water (line, node, 3) [N].
        weight: weight less buoyancy of the nodes (line, node) [N], positive down.
        wet: fraction of the nodes that is under water (line, node).
        sink: what nodes lose of their lift as they rise (line, node) [N/m], for steps of statics.
        tangent: direction of the line at the nodes (line, node, 3).
        drag: across and along (line, node, 2) [N s^2/m^2], and where there is any, lift and drag
            of clumps (line, node, 4).
        velocity: of the water (line, node, 3) [m/s].
        contact: the bed under the nodes; inner ones in use can touch it.
        active: segments in use (line, segment), 1 or 0.
        rest: unstretched lengths at t_{n-1} and t_{n+1} (line, 2, segment) [m].
        spring: slow springs, None where no line has any.
    """

    mass: Array
    scale: Array
    force: Array
    weight: Array
    wet: Array
    sink: Array
    tangent: Array
    drag: Array
    velocity: Array
    contact: Contact
    active: Array
    rest: Array
    spring: SlowSpring | None = None


def to_nodes(x: Array) -> Array:
    """Sum of the segments at each node: (segment, ...) to (node, ...)."""
    zero = jnp.zeros_like(x[:1])
    return jnp.concatenate([zero, x]) + jnp.concatenate([x, zero])


def sink(dry: Array, displaced: Array, gravity: Array, water: NodeWater) -> Array:
    """What nodes or junctions lose of their lift as they rise (node,) [N/m].

    The slope of the buoyancy at the surface. Of what floats, elsewhere the slope of the line that
    leads to where it floats: so that long steps end there and do not leap over the surface.

    Args:
        dry: mass (node,) [kg].
        displaced: mass of the water that a node displaces (node,) [kg].
        gravity: [m/s^2].
        water: at the nodes.
    """
    share = 0.5 + 0.5 * water.depth / water.reach
    afloat = dry / jnp.maximum(displaced, TINY)
    gap = share - afloat
    near = jnp.abs(gap) < 1e-9
    secant = jnp.where(near, 1.0, (water.wet - afloat) / jnp.where(near, 1.0, gap))
    tangent = jnp.where((share > 0.0) & (share < 1.0), 1.0, 0.0)
    slope = jnp.where(afloat < 1.0, secant, tangent)
    return 0.5 * gravity * displaced / water.reach * slope


def freeze(
    lines: LineArrays,
    bed: Bed | None,
    q: Float[Array, "line node 3"],
    water: NodeWater | None,
    gravity: Array | float,
    rho: Array | float,
    rest: Float[Array, "line two segment"] | None = None,
) -> LaggedCoefficients:
    """Masses, forces and bed of a step, at the positions of t_n.

    Args:
        lines: all lines.
        bed: the seabed, or None.
        q: positions of the nodes at t_n [m].
        water: velocity and acceleration of the water at the nodes, or None where there is none.
        gravity: [m/s^2].
        rho: density of the water [kg/m^3].
        rest: unstretched lengths at t_{n-1} and t_{n+1}, where they change [m].
    """
    if rest is None:
        rest = jnp.stack([lines.rest_length, lines.rest_length], axis=1)
    if water is None:
        zero = jnp.zeros_like(q)
        reach = node_parts(lines, q)[1]
        water = NodeWater(velocity=zero, acceleration=zero, depth=-reach, reach=reach)

    def one(line: LineArrays, r: Array, w: NodeWater, lengths: Array) -> LaggedCoefficients:
        return _freeze_one(line, bed, r, w, gravity, rho, lengths)

    return jax.vmap(one)(lines, q, water, rest)


def _freeze_one(
    line: LineArrays,
    bed: Bed | None,
    r: Array,
    water: NodeWater,
    gravity: Array | float,
    rho: Array | float,
    rest: Array,
) -> LaggedCoefficients:
    n = line.rest_length.shape[0]
    active = (jnp.arange(n) >= line.first).astype(float)
    half = 0.5 * line.rest_length * active
    area = 0.25 * jnp.pi * line.diameter**2
    # direction of the line at its nodes
    along = to_nodes(r[1:] - r[:-1])
    t = along / jnp.sqrt(jnp.sum(along**2, -1, keepdims=True) + TINY)
    # one pass for every quantity that is lumped at nodes
    surface = 0.5 * rho * half * line.diameter
    lumped = to_nodes(
        jnp.stack(
            [
                half * line.mass_per_length,
                half * area,
                half * area * line.Can,
                half * area * line.Cat,
                surface * line.Cdn,
                surface * jnp.pi * line.Cdt,
                surface * line.lift,
                half * line.diameter,
            ],
            -1,
        )
    )
    dry = lumped[:, 0] + line.point_mass
    volume = lumped[:, 1] + line.point_volume
    wet = rho * water.wet
    along_along = t[:, :, None] * t[:, None, :]
    eye = jnp.eye(3)
    across, axial = (wet * lumped[:, 2])[:, None, None], (wet * lumped[:, 3])[:, None, None]
    added = across * (eye - along_along) + axial * along_along
    mass = dry[:, None, None] * eye + added
    weight = (dry - wet * volume) * gravity
    down = jnp.array([0.0, 0.0, -1.0])
    added_mass_reaction = jnp.sum(added * water.acceleration[:, None, :], -1)
    added_mass_reaction = added_mass_reaction + (wet * volume)[:, None] * water.acceleration
    drag = lumped[:, 4:6]
    if line.lifted:
        own_drag = 0.5 * rho * line.point_drag
        drag = jnp.concatenate([lumped[:, 4:7], own_drag[:, None]], -1)
    drag = drag * water.wet[:, None]
    node = jnp.arange(n + 1)
    touch = ((node > line.first) & (node < n)).astype(float)
    return LaggedCoefficients(
        mass=mass,
        scale=jnp.maximum((mass[:, 0, 0] + mass[:, 1, 1] + mass[:, 2, 2]) / 3.0, 1e-12),
        force=weight[:, None] * down + added_mass_reaction,
        weight=weight,
        wet=water.wet,
        sink=sink(dry, rho * volume, gravity, water),
        tangent=t,
        drag=drag,
        velocity=water.velocity,
        contact=contact_under(bed, r, lumped[:, 7], touch),
        active=active,
        rest=rest,
    )
