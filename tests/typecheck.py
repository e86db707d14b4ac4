"""The type checker that jaxtyping's import hook puts on every function of the package in tests."""

from typing import Any

from beartype import BeartypeConf, beartype
from beartype.roar import BeartypeDecorHintPep673Exception

# numeric tower: an int is welcome where a float is asked for, as everywhere in Python
_beartype = beartype(conf=BeartypeConf(is_pep484_tower=True))


def check(item: Any) -> Any:
    """Check arguments and results of a function on every call.

    The hook hands over methods one by one, and beartype cannot know `Self` outside its class: such
    methods stay unchecked here and are left to the static checker.
    """
    try:
        return _beartype(item)
    except BeartypeDecorHintPep673Exception:
        return item
