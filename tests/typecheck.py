"""The type checker that jaxtyping's import hook puts on every function of the package in tests."""

from beartype import BeartypeConf, beartype

# Numeric tower: an int is welcome where a float is asked for, as everywhere in Python.
check = beartype(conf=BeartypeConf(is_pep484_tower=True))
