r"""Balance of forces on every body over two steps in a row.

.. math::
    m \frac{c_+ - 2 c_n + c_-}{h^2}, \qquad
    R_n \Bigl[ J \frac{W_+ - W_-}{h} + \bar W \times J \bar W \Bigr], \qquad
    \Bigl(A_\infty + \tfrac14 h^2 K\Bigr) \frac{v_+ - v_-}{h}

The first acts at the centre of mass with the averaged lever, W = R_n^T w. K is the stiffness of
the forces at rest: forces are taken at q_n, and the term beta h^2 K with beta = 1/4 makes their
linear part unconditionally stable (it weighs it 1/4, 1/2, 1/4 over the three instants). Multiplied
by the mean velocity the inertia terms are exact differences of kinetic energy.
"""

from __future__ import annotations

from jaxtyping import Float

from swelltree.integrate.complementarity.cayley import couple_of
from swelltree.integrate.complementarity.poses import PoseStencil
from swelltree.jit import Array, namespace
from swelltree.model.model import Model
from swelltree.multibody.inertia import kirchhoff, world_added_mass
from swelltree.spatial.rotations import apply, cross, matvec, transpose


def inertia_balance(
    model: Model, three: PoseStencil, coupled: Float[Array, "b6 b6"] | None, h: Array
) -> Float[Array, "n 6"]:
    """Wrench that the bodies need, rigid and added mass.

    Args:
        model: compiled.
        three: poses around the step.
        coupled: added mass of all bodies and stabilising stiffness times beta h^2, world axes.
        h: step [s].
    """
    bodies, now = model.bodies, three.now
    xp = namespace(three.v_plus)
    arms = [matvec(pose.R, bodies.com) for pose in (three.last, now, three.next)]
    places = [pose.p + arm for pose, arm in zip((three.last, now, three.next), arms, strict=True)]
    force = bodies.mass[:, None] * (places[2] - 2.0 * places[1] + places[0]) / h**2
    lever = 0.5 * (arms[0] + arms[2])
    back = transpose(now.R)
    W_plus, W_minus = matvec(back, three.v_plus[:, 3:]), matvec(back, three.v_minus[:, 3:])
    mean = 0.5 * (W_plus + W_minus)
    spin = matvec(bodies.inertia, (W_plus - W_minus) / h) + cross(
        mean, matvec(bodies.inertia, mean)
    )
    moment = matvec(now.R, spin) + couple_of(three.T, cross(lever, force))
    needed = xp.concatenate([force, moment], axis=-1)
    acceleration = (three.v_plus - three.v_minus) / h
    if coupled is not None:
        needed = needed + apply(coupled, acceleration.reshape(-1)).reshape(needed.shape)
    added = world_added_mass(bodies.added_mass, now)
    if added is not None:
        needed = needed + matvec(added, acceleration) + kirchhoff(added, three.v)
    return needed


def weight_correction(model: Model, three: PoseStencil) -> Float[Array, "n 6"]:
    """What the averaged lever changes in the moments of weight and constant buoyancy.

    Forces of the model act with their levers now; with the averaged ones the work of weight is
    exactly the change of its potential.
    """
    bodies = model.bodies
    xp = namespace(three.v_plus)
    weight = bodies.mass[:, None] * model.gravity
    upthrust = -(model.rho * bodies.volume)[:, None] * model.gravity
    moment = 0.0
    for force, point in ((weight, bodies.com), (upthrust, bodies.buoyancy)):
        mean = matvec(0.5 * (three.last.R + three.next.R), point)
        moment = moment + couple_of(three.T, cross(mean, force))
        moment = moment - cross(matvec(three.now.R, point), force)
    return xp.concatenate([0.0 * moment, moment], axis=-1)
