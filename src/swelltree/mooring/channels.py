"""Channels that lines of every theory report under the same names.

Dynamic, quasi-static and multibody lines are rows of one variable: of all lines in a system `line`,
`winch` and `junction` go on from theory to theory (`model.solved.joined_channels`).
"""

from __future__ import annotations

from swelltree.jit import Array, namespace
from swelltree.spatial.rotations import dot


def end_channels(at_A: Array, at_B: Array) -> dict[str, Array]:
    """What lines of every theory report of their ends.

    Args:
        at_A: force of the lines on what holds their ends A (line, 3) [N].
        at_B: on what holds their ends B.
    """
    xp = namespace(at_A, at_B)
    out = {}
    for name, force in (("anchor", at_A), ("fairlead", at_B)):
        level = xp.sqrt(dot(force[:, :2], force[:, :2]) + 1e-20)
        out |= {
            f"{name}_tension": xp.sqrt(dot(force, force)),
            f"{name}_force": force,
            f"{name}_angle": xp.arctan2(force[:, 2], level),
            f"{name}_uplift": xp.maximum(force[:, 2], 0.0),
        }
    return out
