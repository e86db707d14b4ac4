"""Shapes of arguments and results, checked by jaxtyping and beartype in tests.

Functions with shapes in their signature are checked; other types are left to the static checker. A
check costs more than most functions do: checking every call doubles the time of the suite. Each
function is checked in its first calls and in some of all later ones, and its checked form is built
when it is first called.
"""

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any

import jaxtyping
from beartype import BeartypeConf, beartype
from beartype.roar import BeartypeDecorHintPep673Exception

FIRST_CALLS = 100  # calls of each function that are all checked
PERIOD = 25  # of later calls, every so many

# numeric tower: an int is welcome where a float is asked for, as everywhere in Python
SHAPES = re.compile(r"\b(Float|Int|Bool|Complex|Num|Shaped|Inexact)\d*\[")
_beartype = beartype(conf=BeartypeConf(is_pep484_tower=True))
_jaxtyped: Callable[..., Any] = jaxtyping.jaxtyped


def check(item: Any) -> Any:
    """Check arguments and results of a function.

    The hook passes methods one by one, and beartype cannot know `Self` outside its class: such
    methods stay unchecked here and are left to the static checker.
    """
    try:
        return _beartype(item)
    except BeartypeDecorHintPep673Exception:
        return item


def sampled(item: Any = None, *, typechecker: Any = None) -> Any:
    """`jaxtyping.jaxtyped` for some of the calls."""
    if item is None:
        return functools.partial(sampled, typechecker=typechecker)
    if inspect.isclass(item):  # trees are built again with placeholders for their arrays
        return item
    if not inspect.isfunction(item):
        return _jaxtyped(item, typechecker=typechecker)
    if not any(SHAPES.search(str(a)) for a in item.__annotations__.values()):
        return item
    calls, checked = 0, None

    @functools.wraps(item)
    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls, checked
        calls += 1
        if calls > FIRST_CALLS and calls % PERIOD:
            return item(*args, **kwargs)
        if checked is None:
            checked = _jaxtyped(item, typechecker=typechecker)
        return checked(*args, **kwargs)

    return call


def install(modules: list[str]) -> None:
    """Check the functions of these modules and of those below them, which are not imported yet."""
    jaxtyping.jaxtyped = sampled
    jaxtyping.install_import_hook(modules, "typecheck.check")
