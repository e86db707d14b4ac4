"""What a finished step says about the lines: tensions, flags, energies, residuals."""

from __future__ import annotations

from dataclasses import replace

from swelltree.integrate.complementarity.lines.bending import bend, bent, kink_energy, wound
from swelltree.integrate.complementarity.lines.forces import LaggedCoefficients
from swelltree.integrate.complementarity.lines.rows import drag
from swelltree.integrate.complementarity.lines.stretch import stored, stretched_by_winch
from swelltree.jit import Array, jax, jnp, pytree
from swelltree.mooring.dynamic.arrays import LineArrays

ABS_TOL = 1e-6  # m: scaled multipliers below this are the smoothing of the central path


@pytree()
class LineReport:
    """Of all lines, at t_n. Energies are the mean of those half a step before and after it.

    Args:
        tension: (line, segment) [N].
        end_force: of the line on what holds its points, with weight, inertia and drag of the half
            segments there (line, point, 3) [N].
        slack: whether the segment carries none (line, segment).
        grounded: whether the node rests on the bed (line, node).
        kinetic: (line,) [J].
        stored: axial and bending energy (line,) [J].
        potential: of weight less buoyancy (line,) [J].
        water_work: done on the line by drag and lift during h (line,) [J].
        friction_loss: taken by the friction of the bed during h (line,) [J].
        winding: power that changes of unstretched lengths put into stretch and bending (line,) [W].
        length_violation: of inextensible segments at t_{n+1} (line,) [m].
        penetration: of a rigid bed at t_{n+1} (line,) [m].
        complementarity: largest product of a force and its gap (line,) [J].
        curvature: angle between segments over their length (line, node) [1/m]; (line, 0) where no
            line bends.
        moment: bending moment at the nodes, alike [N m].
    """

    tension: Array
    end_force: Array
    slack: Array
    grounded: Array
    kinetic: Array
    stored: Array
    potential: Array
    water_work: Array
    friction_loss: Array
    winding: Array
    length_violation: Array
    penetration: Array
    complementarity: Array
    curvature: Array
    moment: Array


def report(
    lines: LineArrays,
    frozen: LaggedCoefficients,
    h: Array,
    q_minus: Array,
    q_n: Array,
    q_plus: Array,
    mu: Array,
    nu: Array,
    excess: tuple[Array, Array, Array] | None = None,
    theta: Array = 0.5,
    rub: Array | None = None,
    winds: bool = False,
) -> LineReport:
    """Report on a finished step; arguments as in `assemble`.

    Args:
        lines: all lines.
        frozen: their data at t_n.
        h: step [s].
        q_minus: positions at t_{n-1}.
        q_n: positions at t_n.
        q_plus: positions at t_{n+1}.
        mu: multipliers.
        nu: contact forces.
        excess: points beyond the ends at t_{n-1}, t_n and t_{n+1}, of lines that bend.
        theta: weight of t_{n+1} in the step.
        rub: friction forces of the bed (line, node, 3) [N]; none if not given.
        winds: unstretched lengths may change.
    """
    rub = jnp.zeros_like(q_n) if rub is None else rub
    if lines.bending and excess is None:
        ends = jnp.stack([q_n[:, 0], q_n[:, -1]], 1)
        excess = ends, ends, ends

    def one(
        line: LineArrays,
        frozen: LaggedCoefficients,
        qm: Array,
        qn: Array,
        qp: Array,
        mu: Array,
        nu: Array,
        rub: Array,
        far: tuple[Array, Array, Array] | None,
    ) -> LineReport:
        rest, contact = frozen.rest, frozen.contact
        mean_rest = 0.5 * (rest[0] + rest[1])
        active = frozen.active > 0.0
        d_plus, d_minus, d_n = (q[1:] - q[:-1] for q in (qp, qm, qn))
        length = lambda d: jnp.sqrt(jnp.sum(d**2, -1))  # noqa: E731
        g = length(theta * d_plus + (1.0 - theta) * d_minus) / mean_rest
        rs = h * h / frozen.scale
        half = 2.0 * h * h / (frozen.scale[1:] + frozen.scale[:-1])
        v, vbar = (qp - qn) / h, (qp - qm) / (2.0 * h)
        halves = jnp.stack([(qn - qm) / h, v])
        kinetic = 0.25 * jnp.sum(halves * jnp.sum(frozen.mass * halves[:, :, None], -1))
        # lengths at t_n are those of `line`, also on a winch
        lengths = length(d_minus), length(d_plus)
        axial = 0.25 * (stored(line, lengths[0], rest[0]) + stored(line, lengths[1], rest[1]))
        axial = axial + 0.5 * stored(line, length(d_n), line.rest_length)
        energy = jnp.sum(jnp.where(active, axial, 0.0))
        winding = jnp.zeros(())
        if winds:
            into = stretched_by_winch(line, lengths, rest, mu)
            winding = jnp.sum(jnp.where(active, into, 0.0)) / (2.0 * h)
        if line.bending:
            assert far is not None
            kinks = kink_energy(line, frozen.active, rest[0], far[0], qm)
            kinks = kinks + kink_energy(line, frozen.active, rest[1], far[2], qp)
            kinks = kinks + 2.0 * kink_energy(line, frozen.active, line.rest_length, far[1], qn)
            energy = energy + 0.25 * kinks
            if winds:
                into = wound(line, frozen.active, rest, (far[0], far[2]), (qm, qp))
                winding = winding + into / (2.0 * h)
        flow, _ = drag(frozen, vbar)
        d_mean = theta * d_plus + (1.0 - theta) * d_minus
        pull = (mu * frozen.active / mean_rest)[:, None] * d_mean
        none = jnp.zeros_like(pull[:1])
        total = frozen.force + flow + jnp.concatenate([pull, none])
        total = total - jnp.concatenate([none, pull])
        total = total - jnp.sum(frozen.mass * (qp - 2.0 * qn + qm)[:, None], -1) / h**2
        kink_forces, curvature, moment = None, jnp.zeros(0), jnp.zeros(0)
        if line.bending:
            assert far is not None
            mean = replace(line, rest_length=mean_rest)
            kink_forces = bend(mean, frozen.active, (far[0], far[2]), qm, qp, theta, 1.0).force
            curvature, moment = bent(line, frozen.active, far[1], qn, mu * g)
        stiff = active & ~jnp.isfinite(line.EA)
        psi = (jnp.sum(d_plus**2, -1) - rest[1] ** 2) / (2.0 * rest[1])
        wrong = jnp.where(line.pushes, jnp.abs(psi), psi)
        gap = jnp.sum(contact.normal * qp, -1) - contact.offset
        rigid = (contact.touch > 0.0) & (contact.kind == "rigid")
        products = jnp.maximum(
            jnp.max(jnp.where(stiff, jnp.abs(mu * psi), 0.0)),
            jnp.max(jnp.where(rigid, jnp.abs(nu * gap), 0.0)),
        )
        return LineReport(
            tension=jnp.where(active, mu * g, 0.0),
            end_force=at_ends(line, total, kink_forces),
            slack=active & ~line.pushes & (half * mu < ABS_TOL),
            grounded=(contact.touch > 0.0) & (rs * nu > ABS_TOL),
            kinetic=kinetic,
            stored=energy,
            potential=0.25 * jnp.sum(frozen.weight * (qm + 2.0 * qn + qp)[:, 2]),
            water_work=h * jnp.sum(flow * vbar),
            friction_loss=-h * jnp.sum(rub * vbar),
            winding=winding,
            length_violation=jnp.max(jnp.where(stiff, wrong, 0.0)),
            penetration=jnp.max(jnp.where(rigid, -gap, 0.0)),
            complementarity=products,
            curvature=curvature,
            moment=moment,
        )

    return jax.vmap(one)(lines, frozen, q_minus, q_n, q_plus, mu, nu, rub, excess)


def at_ends(line: LineArrays, total: Array, bent: Array | None) -> Array:
    """Force of one line on the points that hold it (point, 3) [N].

    Args:
        line: one line.
        total: on its nodes, bending left out (node, 3) [N].
        bent: gradient of the bending energy, points beyond the ends included (node + 2, 3), or
            None where nothing bends.
    """
    node = jnp.arange(total.shape[0])
    at_A, idle = (node <= line.first)[:, None], (node < line.first)[:, None]
    excess = []
    if bent is not None:
        total = total - bent[1:-1]
        # idle nodes stand for the point beyond A
        at_A = at_A & ~idle
        excess = [jnp.sum(jnp.where(idle, total, 0.0), 0) - bent[0], -bent[-1]]
    ends = [jnp.sum(jnp.where(at_A, total, 0.0), 0), total[-1]]
    return jnp.stack([*ends, *excess])
