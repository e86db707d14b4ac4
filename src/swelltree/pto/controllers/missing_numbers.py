"""Control laws that give no number on the way: which, where and when."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterable
from itertools import compress
from typing import TYPE_CHECKING

import numpy as np

from swelltree.jit import Array, jax, namespace
from swelltree.model.effect import where_of
from swelltree.pto.controllers.controllers import PlainLaw, control_of, requested_from

if TYPE_CHECKING:
    from swelltree.model.effect import Instant
    from swelltree.model.model import Model


def not_finite(model: Model, moments: Iterable[Instant]) -> str:
    """A message for the first law that has no number, and when; empty: none.

    Args:
        model: with controllers.
        moments: where to ask, `Now`, in their order; not looked at without traced laws.
    """
    effect = control_of(model)
    traced = [not isinstance(c.law, PlainLaw) for c in effect.controllers]
    for now in moments if any(traced) else ():
        for controller, x in compress(
            zip(effect.controllers, effect.parts(now.internal), strict=True), traced
        ):
            y = requested_from(model, now, controller, x)
            t = namespace(y).asarray(now.t)
            u = np.asarray(controller.law(t, y), dtype=float).reshape(-1)
            if not np.isfinite(u).all():
                where = where_of(controller.law, _first_gap(controller.law, t, y))
                return (
                    f"The {where} gives {u.tolist()} at t = {float(t):.6g} s with "
                    f"y = {np.round(np.asarray(y), 6).tolist()}."
                )
    return ""


def _first_gap(law: Callable[[Array, Array], Array], t: Array, y: Array) -> BaseException | None:
    """The error of the line that first has no number, with its traceback; None: it is not known."""
    for infinite in (False, True):
        watched = (jax.debug_nans(True), jax.debug_infs(infinite))
        quiet = contextlib.redirect_stdout(io.StringIO())  # JAX prints what it finds
        try:
            with watched[0], watched[1], quiet, np.errstate(invalid="raise"):
                law(t, y)
        except FloatingPointError as error:
            return error
    return None
