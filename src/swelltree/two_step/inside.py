"""A step of lines by the interior point, as paper 002 has it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from swelltree.engine.arrays import Array
from swelltree.engine.backend import jax, jnp
from swelltree.two_step.instant import Step
from swelltree.two_step.solve.complementarity import Slack
from swelltree.two_step.solve.mehrotra import Pairs, interior_point
from swelltree.two_step.solve.newton import Iterate, first_iterate
from swelltree.two_step.step_rows import Unknowns, changed, direction, evaluate, line_rows

if TYPE_CHECKING:
    from swelltree.two_step.lines.rows import LineRows


INSIDE = 1e-8  # m, tolerance of the interior point before the last correction


def search_inside(step: Step) -> Iterate:
    """A step by the interior point; contacts of bodies keep their smooth rows."""
    first, setup = first_iterate(step), step.setup
    frozen, arrays = step.now.frozen, step.model.dynamic_lines.nodes
    rest, contact = frozen.rest[:, 1], frozen.contact

    def gaps(u: Unknowns) -> tuple[Array, Array]:
        d = u.q[:, 1:] - u.q[:, :-1]
        clearance = (contact.normal * u.q).sum(-1) - contact.offset
        return (rest**2 - (d * d).sum(-1)) / (2.0 * rest), clearance

    pairs = Pairs(
        masks=(
            ~(jnp.isfinite(arrays.EA) | arrays.pushes) & (frozen.active > 0.0),
            (contact.touch > 0.0) & (contact.kind == "rigid"),
        ),
        scales=(
            2.0 * setup.h**2 / (frozen.scale[:, 1:] + frozen.scale[:, :-1]),
            setup.h**2 / frozen.scale,
        ),
        gaps=gaps,
        multipliers=lambda u: (u.mu, u.nu),
        with_multipliers=lambda u, new: replace(u, mu=new[0], nu=new[1]),
    )

    def rows_at(
        u: Unknowns, s: list[Array], wanted: list[Array]
    ) -> tuple[tuple[Unknowns, LineRows], Array]:
        slack = Slack(tension=s[0], bed=s[1], tension_target=wanted[0], bed_target=wanted[1])
        rows = line_rows(step, u, slack)
        value = evaluate(step, u, rows=rows).off
        return (u, rows), jnp.maximum(jnp.abs(value).max(), rows.error.max())

    def towards(result: tuple[Unknowns, LineRows], add: list[Array]) -> Unknowns:
        u, rows = result
        rows = replace(rows, F=rows.F + add[0], bed_F=rows.bed_F + add[1])
        return direction(step, u, rows=rows).change

    def further(u: Unknowns, du: Unknowns, share: Array) -> Unknowns:
        part = jax.tree.map(lambda x: share * x, du)
        return changed(step, u, part)

    most = 2 * step.form.max_iterations
    u, error, count = interior_point(
        pairs, rows_at, towards, further, first.at, setup.tau, INSIDE, most
    )
    # the last correction and powers as the other solver has them
    last = direction(step, u)
    return replace(
        first,
        at=changed(step, u, last.change),
        error=error,
        count=count,
        done=error <= INSIDE,
        power=last.power,
    )
