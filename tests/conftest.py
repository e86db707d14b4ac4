"""Shared by all tests: shapes and types are checked on every call, numbers are float64.

The hook must stand before the first import of the package, so it stands here. Helpers live in
`support.py` (`from support import refdata`).
"""

import jax
from jaxtyping import install_import_hook

jax.config.update("jax_enable_x64", True)
install_import_hook("swelltree", "typecheck.check")
