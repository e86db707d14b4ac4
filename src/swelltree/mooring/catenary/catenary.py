r"""Elastic catenary of several sections, with its part on the bed: closed forms.

A line pulls with the horizontal force H and the vertical force V at its upper end B. At the
unstretched distance s from A the vertical force is V less the weight between s and B, and

.. math:: x' = \frac{H}{T} + \frac{H}{EA}, \quad z' = \frac{V}{T} + \frac{V}{EA}, \quad
          T = \sqrt{H^2 + V^2}

(Irvine 1981). Over a section of constant weight w with end forces :math:`V_1, V_2, T_1, T_2`

.. math:: \int \frac{ds}{T} = \frac{2 l}{T_1 + T_2} \frac{\mathrm{artanh}\, u}{u}, \quad
          u = \frac{w l}{T_1 + T_2}, \qquad
          \int \frac{V}{T} ds = l\, \frac{V_1 + V_2}{T_1 + T_2}

which holds for any sign of w and for w = 0. A section on the bed stops where the vertical force
is that of a line along the bed, V = H tan(slope). The end forces are the gradient of a convex
function of the end positions, so that they exist and are unique.

A rope whose strain over tension is a broken line,
:math:`\epsilon = T/EA + \sum_k c_k \max(T - T_k, 0)`, adds the integrals of
:math:`c_k (1 - T_k/T)` over the parts with more tension than :math:`T_k`: the same closed forms
between the places where that tension is reached.
"""

from __future__ import annotations

from dataclasses import replace

from swelltree.jit import Array, namespace, pytree

SERIES_LIMIT = 1e-2  # |u| below which four terms of the series are exact


@pytree()
class Sections:
    """Sections of e pieces of line from A to B, padded to m by empty ones."""

    length: Array  # (e, m) unstretched, m
    weight: Array  # (e, m) in water, N/m
    compliance: Array  # (e, m) 1 / EA, 1/N
    rests: Array  # (e, m) may lie on the bed; such sections weigh more than water
    knee: Array | None = None  # (e, m, k) tensions at which the compliance changes, N
    softer: Array | None = None  # (e, m, k) by how much it changes there, 1/N

    @property
    def total_length(self) -> Array:
        """Unstretched length of the pieces [m]."""
        return self.length.sum(-1)

    @property
    def total_weight(self) -> Array:
        """Weight in water [N], negative for lines that float."""
        return (self.length * self.weight).sum(-1)

    @property
    def size(self) -> Array:
        """Force scale: weight by size, and a fraction of the stiffness [N]."""
        xp = namespace(self.length, self.weight)
        heavy = (self.length * xp.abs(self.weight)).sum(-1)
        stretch = (self.length * self.compliance).sum(-1)
        return heavy + 1e-9 * self.total_length / stretch

    def loose(self) -> Sections:
        """The sections without seabed."""
        return replace(self, rests=0.0 * self.rests)

    def reversed(self) -> Sections:
        """The sections from B to A."""
        arrays = self.length, self.weight, self.compliance, self.rests, self.knee, self.softer
        return Sections(*(None if x is None else x[:, ::-1] for x in arrays))


@pytree()
class Span:
    """Distances between the ends of pieces for forces H and V at B."""

    x: Array  # (e,) horizontal distance, m
    z: Array  # (e,) height of B above A, m
    x_H: Array  # (e,) derivatives
    x_V: Array
    z_H: Array
    z_V: Array
    hung: Array  # (e, m) unstretched length off the bed
    work: Array  # (e,) integral of T + T^2 / (2 EA), the complementary energy, J
    pull: Array  # (e,) tension of the lower end along the bed, N


def _after(x: Array) -> Array:
    """Sum of the entries behind each one, along the last axis."""
    xp = namespace(x)
    return x.sum(-1, keepdims=True) - xp.cumsum(x, axis=-1)


def _integrals(H: Array, V1: Array, V2: Array, length: Array) -> tuple[Array, ...]:
    """Integrals over a section of 1/T, V/T, V/T^3, H^2/T^3 and T."""
    xp = namespace(H, V1, length)
    square = H * H
    T1, T2 = xp.sqrt(square + V1 * V1), xp.sqrt(square + V2 * V2)
    both, product = T1 + T2, T1 * T2
    u = (V2 - V1) / both
    # T1 T2 + V1 V2 without cancellation where the signs differ, then 1 - u^2
    opposed = V1 * V2 < 0.0
    apart = xp.where(opposed, product - V1 * V2, 1.0)
    q = xp.where(opposed, square * (square + V1 * V1 + V2 * V2) / apart, product + V1 * V2)
    rest = 2.0 * (square + q) / (both * both)
    # artanh(u) / u, by its series where u is small
    small = xp.abs(u) < SERIES_LIMIT
    safe = xp.where(small, SERIES_LIMIT, xp.abs(u))
    long = 0.5 * xp.log1p(2.0 * safe * (1.0 + safe) / xp.where(small, 1.0, rest)) / safe
    v = u * u
    ratio = xp.where(small, 1.0 + v * (1 / 3 + v * (1 / 5 + v * (1 / 7 + v / 9))), long)
    inverse = 2.0 * length * ratio / both
    cubes = 2.0 * length * square / (rest * both * product)
    slope_integrals = length * (V1 + V2) / (product * both)
    tension = 0.25 * length * (both + (V1 + V2) ** 2 / both) + 0.5 * square * inverse
    return inverse, length * (V1 + V2) / both, slope_integrals, cubes, tension


def hanging(sections: Sections, H: Array, V: Array, slope: Array | None) -> Span:
    """The part off the bed, up to B; derivatives with the lying part taken along.

    Args:
        sections: of the pieces.
        H: horizontal force at B, positive (e,) [N].
        V: vertical force at B (e,) [N].
        slope: rise of the bed from A towards B (e,); None: flat.
    """
    xp = namespace(H, V, sections.length)
    length, weight, soft = sections.length, sections.weight, sections.compliance
    rests = sections.rests > 0.0
    H_, floor = H[:, None], 0.0 if slope is None else (H * slope)[:, None]
    upper = V[:, None] - _after(length * weight)
    lower = upper - length * weight
    V2 = xp.where(rests, xp.maximum(upper, floor), upper)
    V1 = xp.where(rests, xp.maximum(lower, floor), lower)
    hung = xp.where(rests, (V2 - V1) / xp.where(rests, weight, 1.0), length)
    inverse, sine, slope_integrals, cubes, tension = _integrals(H_, V1, V2, hung)
    stretch = hung * soft
    squares = H_ * H_ + (V1 * V1 + V1 * V2 + V2 * V2) / 3.0
    x_V = -(H_ * slope_integrals).sum(-1)
    result = Span(
        x=(H_ * (inverse + stretch)).sum(-1),
        z=(sine + 0.5 * (V1 + V2) * stretch).sum(-1),
        x_H=(inverse - cubes + stretch).sum(-1),
        x_V=x_V,
        z_H=x_V,
        z_V=(cubes + stretch).sum(-1),
        hung=hung,
        work=(tension + 0.5 * stretch * squares).sum(-1),
        pull=0.0 * H,
    )
    return result if sections.knee is None else _with_knees(sections, result, H, V1, V2)


def _with_knees(sections: Sections, free: Span, H: Array, V1: Array, V2: Array) -> Span:
    """Contribution of the breakpoints of a stretch table to the suspended part."""
    assert sections.knee is not None
    xp = namespace(H, V1)
    H_, low, high = H[:, None, None], V1[:, :, None], V2[:, :, None]
    T, c, hung = sections.knee, sections.softer, free.hung[:, :, None]
    V = xp.sqrt(xp.maximum(T * T - H_ * H_, 0.0))
    even = high == low
    total = xp.where(even, 1.0, high - low)
    # above the knee: where the vertical force is more than V upwards, or more than V downwards
    up = xp.maximum(low, V), xp.maximum(high, V), low >= V
    down = xp.minimum(low, -V), xp.minimum(high, -V), low < -V
    for a, b, all_of_it in (up, down):
        length = hung * xp.where(even, 1.0 * all_of_it, (b - a) / total)
        inverse, sine, slope_integrals, cubes, tension = _integrals(H_, a, b, length)
        squares = length * (H_ * H_ + (a * a + a * b + b * b) / 3.0)

        def added(x: Array) -> Array:
            return (c * x).sum((-1, -2))

        x_V = added(T * H_ * slope_integrals)
        free = replace(
            free,
            x=free.x + added(H_ * (length - T * inverse)),
            z=free.z + added(0.5 * length * (a + b) - T * sine),
            x_H=free.x_H + added(length - T * (inverse - cubes)),
            x_V=free.x_V + x_V,
            z_H=free.z_H + x_V,
            z_V=free.z_V + added(length - T * cubes),
            work=free.work + added(0.5 * squares - T * tension + 0.5 * T * T * length),
        )
    return free


def stretch_lying(
    sections: Sections, lying: Array, high: Array, low: Array
) -> tuple[Array, Array, Array]:
    """Elongation of lying parts (e,) [m], its derivative by tension [m/N] and its energy [J].

    Args:
        sections: of the pieces.
        lying: lengths that lie and carry tension (e, m) [m].
        high: tension at their upper ends (e, m) [N].
        low: at their lower ends; tension falls evenly.
    """
    xp = namespace(high, lying)
    soft = lying * sections.compliance
    longer, give = (0.5 * soft * (high + low)).sum(-1), soft.sum(-1)
    energy = (soft * (high * high + high * low + low * low) / 6.0).sum(-1)
    if sections.knee is not None:
        a, b = (xp.maximum(x[:, :, None] - sections.knee, 0.0) for x in (low, high))
        even = (high == low)[:, :, None]
        drop = xp.where(even, 1.0, (high - low)[:, :, None])
        # of the part above the knee: its share, and its mean tension above the knee
        share = xp.where(even, 1.0 * (b > 0.0), (b - a) / drop)
        soft = lying[:, :, None] * sections.softer * share
        longer = longer + (0.5 * soft * (a + b)).sum((-1, -2))
        give = give + soft.sum((-1, -2))
        energy = energy + (soft * (a * a + a * b + b * b) / 6.0).sum((-1, -2))
    return longer, give, energy


def span(
    sections: Sections, H: Array, V: Array, slope: Array | None = None, friction: Array = 0.0
) -> Span:
    """Distance between the ends of pieces whose end A may lie on the bed, from the force at B.

    Tension on the bed falls from the touchdown towards A by the slope and by friction, which acts
    as if the line were pulled towards B.

    Args:
        sections: of the pieces.
        H: horizontal force at B, positive (e,) [N].
        V: vertical force at B (e,) [N].
        slope: rise of the bed from A towards B (e,); None: flat and without friction.
        friction: of the bed (e,).
    """
    xp = namespace(H, V, sections.length)
    free = hanging(sections, H, V, slope)
    length, weight = sections.length, sections.weight
    lying = length - free.hung
    # below the bed z goes on in a straight line, so that its root is found from there too
    burden = (length * weight * sections.rests).sum(-1)
    rests = burden > 0.0
    loose = xp.where(rests, (length * sections.rests).sum(-1), 0.0) / xp.where(rests, burden, 1.0)
    floor = 0.0 if slope is None else H * slope
    under = xp.minimum(V - weight_behind(sections) - floor, 0.0)
    z, z_V = free.z + loose * under, free.z_V + loose * (under < 0.0)
    if slope is None:
        rest, pull = lying.sum(-1), H[:, None] + 0.0 * lying
        longer, give, energy = stretch_lying(sections, lying, pull, pull)
        return replace(
            free,
            x=free.x + rest + longer,
            z=z,
            x_H=free.x_H + give,
            z_V=z_V,
            work=free.work + H * rest + energy,
            pull=H,
        )
    cosine = 1.0 / xp.sqrt(1.0 + slope * slope)
    sine = slope * cosine
    loss = sine + friction * cosine
    # tension at both ends of every lying part, and the length over which there is any
    above = _after(lying * weight)
    top, loss_ = (H / cosine)[:, None], loss[:, None]
    high = xp.maximum(top - loss_ * above, 0.0)
    low = xp.maximum(top - loss_ * (above + lying * weight), 0.0)
    grips = (low > 0.0) | (loss_ <= 0.0)
    rate = xp.where(grips, 1.0, loss_ * weight)
    active = xp.where(grips, lying, xp.minimum(lying, high / rate))
    longer, give, _ = stretch_lying(sections, active, high, low)
    extent = lying.sum(-1) + longer
    by_H = cosine - friction * sine
    return replace(
        free,
        x=free.x + cosine * extent,
        z=z + sine * extent,
        x_H=free.x_H + cosine * by_H * give,
        x_V=free.x_V + cosine * loss * give,
        z_H=free.z_H + sine * by_H * give,
        z_V=z_V + sine * loss * give,
        work=free.work + H * lying.sum(-1) + 0.5 * H * H * give,
        pull=low[:, 0],
    )


def weight_behind(sections: Sections) -> Array:
    """Weight between the last section that may lie on the bed and B, (e,) [N]."""
    xp = namespace(sections.length, sections.rests)
    behind = xp.cumsum(sections.rests[:, ::-1], axis=-1)[:, ::-1] == 0.0
    return (sections.length * sections.weight * behind).sum(-1)
