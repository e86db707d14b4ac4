"""Direct numbers of a model: set by either name, they give the model that is compiled anew."""

import jax
import numpy as np

import swelltree as sw
from swelltree.describe.paths import number_at, with_numbers


def check_direct_numbers(model):
    """Names of the direct numbers that were changed and compared."""
    system, checked = model.described.specified, []
    for name, path in model.described.direct.items():
        old = float(np.asarray(number_at(system, path)))
        try:
            described = with_numbers(system, {path: 0.97 * old or 0.013})
        except sw.SwelltreeError:
            continue  # damping of a stop that is not there
        value = number_at(described, path)
        anew = jax.tree.leaves(sw.compile(described))
        for one in (name, path):
            changed = model.with_values({one: value})
            pairs = zip(jax.tree.leaves(changed), anew, strict=True)
            assert all(np.array_equal(a, b) for a, b in pairs), one
            assert changed.described.specified == described
            assert changed.value(name) == changed.value(path) == value
        checked.append(name)
    return checked
