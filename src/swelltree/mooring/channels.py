"""Channels that lines of every theory report under the same names, and their dimensions.

Dynamic, quasi-static and multibody lines are rows of one variable: of all lines in a system `line`,
`winch` and `junction` go on from theory to theory (`model.total.joined_channels`).
"""

from __future__ import annotations

from swelltree.jit import Array, namespace
from swelltree.spatial.rotations import dot

_WINCH = (
    "length",
    "speed",
    "tension",
    "power",
    "work",
    "rope_mass",
    "rope_energy",
    "lost_energy",
    "segments",
)

LINE_DIMS: dict[str, tuple[str, ...]] = {
    "fairlead_tension": ("line",),
    "anchor_tension": ("line",),
    "anchor_uplift": ("line",),
    "fairlead_uplift": ("line",),
    "anchor_force": ("line", "axis"),
    "fairlead_force": ("line", "axis"),
    "anchor_angle": ("line",),
    "fairlead_angle": ("line",),
    "utilisation": ("line",),
    "touchdown": ("line",),
    "line_curvature": ("line", "line_node"),
    "line_bending_moment": ("line", "line_node"),
    "line_bend_radius": ("line",),
    "line_position": ("line", "line_node", "axis"),
    "line_node_tension": ("line", "line_node"),
    "line_grounded": ("line", "line_node"),
    "line_tension": ("line", "line_segment"),
    "line_mean_tension": ("line", "line_segment"),
    "line_impulse": ("line", "line_segment"),
    "line_slack": ("line", "line_segment"),
    "line_length": ("line", "line_segment"),
    "line_stretched_length": ("line", "line_segment"),
    "line_segments": ("line",),
    "line_kinetic_energy": ("line",),
    "line_stored_energy": ("line",),
    "line_potential_energy": ("line",),
    "junction_position": ("junction", "axis"),
    **{f"winch_{name}": ("winch",) for name in _WINCH},
    "winch_rope_momentum": ("winch", "axis"),
    "winch_lost_momentum": ("winch", "axis"),
}


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
