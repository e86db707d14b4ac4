r"""Lines at an instant of which positions and velocities are known, whatever the step.

The tension of an elastic segment follows from its length and from how fast that grows,

.. math:: T = \max\bigl(0, T(e) + \kappa \tfrac{EA}{L} \dot e\bigr),

which is the law of a step (`stretch`) as it becomes ever shorter. What cannot stretch is given its
tension. An end adds to what holds it half a segment: forces, and a mass that moves along.
"""

from __future__ import annotations

from swelltree.effects.lines.dynamic.arrays import LineArrays
from swelltree.engine.arrays import Array, pytree
from swelltree.engine.backend import jax, jnp
from swelltree.two_step.lines.bending import bend
from swelltree.two_step.lines.forces import Frozen
from swelltree.two_step.lines.report import at_ends
from swelltree.two_step.lines.rows import drag
from swelltree.two_step.lines.stretch import stretch_law

SHORT = 1e-6  # s: a step that is none


@pytree()
class Ends:
    """Lines as what holds them feels them.

    Args:
        tension: (line, segment) [N].
        force: on the points that hold the line, inertia left out (line, point, 3) [N].
        mass: of the half segments at the ends A and B (line, 2, 3, 3) [kg].
    """

    tension: Array
    force: Array
    mass: Array


def ends_now(
    lines: LineArrays, frozen: Frozen, h: Array, q: Array, v: Array, rigid: Array, beyond: Array
) -> Ends:
    """Tensions, and what lines do to their ends.

    Args:
        lines: all lines, as long as they are now.
        frozen: their data now.
        h: step over which `frozen` has the change of unstretched lengths [s].
        q: positions of the nodes (line, node, 3) [m].
        v: their velocities.
        rigid: tension of segments that cannot stretch (line, segment) [N].
        beyond: points beyond the ends of lines that bend (line, 2, 3) [m].
    """

    def one(line: LineArrays, frozen: Frozen, q: Array, v: Array, rigid: Array, far: Array) -> Ends:
        d, growth = q[1:] - q[:-1], v[1:] - v[:-1]
        length = jnp.sqrt(jnp.sum(d**2, -1) + 1e-20)
        along = d / length[:, None]
        rate = jnp.sum(along * growth, -1)
        L, L_rate = line.rest_length, (frozen.rest[1] - frozen.rest[0]) / (2.0 * h)
        lengths = length - SHORT * rate, length + SHORT * rate
        rests = L - SHORT * L_rate, L + SHORT * L_rate
        law = stretch_law(line, lengths, rests, SHORT, 0.5)[0]
        soft = jnp.isfinite(line.EA)
        law = jnp.where(line.pushes, law, jnp.maximum(law, 0.0))
        elastic = jnp.where(soft, line.EA, 0.0) / L * law * length / L
        tension = jnp.where(soft, elastic, rigid) * frozen.active
        pull = tension[:, None] * along
        none = jnp.zeros_like(pull[:1])
        total = frozen.force + drag(frozen, v)[0]
        total = total + jnp.concatenate([pull, none]) - jnp.concatenate([none, pull])
        bent = None
        if line.bending:
            bent = bend(line, frozen.active, (far, far), q, q, 0.5, 1.0).force
        mass = jnp.stack([frozen.mass[line.first], frozen.mass[-1]])
        return Ends(tension, at_ends(line, total, bent), mass)

    return jax.vmap(one)(lines, frozen, q, v, rigid, beyond)
