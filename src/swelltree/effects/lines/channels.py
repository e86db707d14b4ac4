"""Channels that lines of every theory report under the same names, and their dimensions.

Dynamic, quasi-static and multibody lines are rows of one variable: of all lines in a system `line`,
`winch` and `junction` go on from theory to theory (`model.total.joined_channels`).
"""

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
    "touchdown": ("line",),
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
