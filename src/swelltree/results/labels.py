"""Names, dimensions, units and frames of everything a run reports.

One table turns the raw channels of a run into variables. A unit such as "m, rad" belongs to
translations and rotations in this order; the coordinate `dof` or `coordinate_unit` says which
of the two an entry is.
"""

from __future__ import annotations

from typing import NamedTuple

from swelltree.jit import Array
from swelltree.model.model import Model

DOFS = ("Surge", "Sway", "Heave", "Roll", "Pitch", "Yaw")
AXES = ("x", "y", "z")

_WORLD = "world axes, z up from the still water"
_POINT = "world axes, at the reference point of the body"
_EACH = "each body"
HEADING = "heading axes of the body: world axes turned about z by its yaw at the datum"
_FOLLOWER = "follower of the joint, by the base"


ANGLES = "angles"  # attribute of variables


class Label(NamedTuple):
    """How one raw channel appears in a result; empty texts are left out."""

    name: str
    dims: tuple[str, ...]  # after time
    units: str
    long_name: str
    frame: str = ""
    on_body: str = ""
    angles: bool = False  # rotations in it are angles, which go on past half a turn


# raw channel -> variable; channels that need work (attitude, energy) are made in `dataset`
LABELS: dict[str, Label] = {
    "position": Label(
        "position",
        ("body", "dof"),
        "m, rad",
        "position of the reference point; roll, pitch, yaw (intrinsic z-y-x)",
        _WORLD,
        _EACH,
        angles=True,
    ),
    "displacement": Label(
        "displacement",
        ("body", "dof"),
        "m, rad",
        "motion of the reference point from the datum; roll, pitch, yaw (intrinsic z-y-x)",
        HEADING,
        _EACH,
        angles=True,
    ),
    "velocity": Label(
        "velocity", ("body", "dof"), "m/s, rad/s", "velocity and angular velocity", _POINT, _EACH
    ),
    "acceleration": Label(
        "acceleration",
        ("body", "dof"),
        "m/s^2, rad/s^2",
        "acceleration and angular acceleration",
        _POINT,
        _EACH,
    ),
    "rotation": Label(
        "rotation",
        ("body", "axis", "body_axis"),
        "1",
        "rotation matrix from body axes to world axes",
        "body axes to world axes",
        _EACH,
    ),
    "quaternion": Label(
        "quaternion",
        ("body", "component"),
        "1",
        "attitude as unit quaternion (w, x, y, z)",
        "body axes to world axes",
        _EACH,
    ),
    "wrench": Label(
        "wrench",
        ("body", "dof"),
        "N, N m",
        "force and moment of all force elements",
        _POINT,
        _EACH,
    ),
    "coordinate": Label(
        "joint_coordinate",
        ("coordinate",),
        "m, rad",
        "joint coordinate, follower relative to base; three free rotations (ball, free) are roll, "
        "pitch, yaw (intrinsic z-y-x), continuous from sample to sample; the two of a cable "
        "element are components of the rotation vector",
        "joint axes",
        angles=True,
    ),
    "rate": Label(
        "joint_rate",
        ("coordinate",),
        "m/s, rad/s",
        "rate of the joint coordinate, follower relative to base; of a cable element components "
        "of the angular velocity; roll and yaw have none at a pitch of a quarter turn",
        "joint axes",
    ),
    "reaction": Label(
        "reaction",
        ("joint", "dof"),
        "N, N m",
        "reaction force and moment at the joint point",
        "world axes, at the joint point",
        _FOLLOWER,
    ),
    "reaction_joint_axes": Label(
        "reaction_joint_axes",
        ("joint", "dof"),
        "N, N m",
        "reaction force and moment at the joint point",
        "joint axes, at the joint point",
        _FOLLOWER,
    ),
    "coupling_force": Label(
        "coupling_force",
        ("coupling_term",),
        "N, N m",
        "force of a coupling on the joint coordinate",
        "joint axes",
        "follower of the joint",
    ),
    "joint_point": Label(
        "joint_point",
        ("joint", "axis"),
        "m",
        "joint point on the follower",
        _WORLD,
        "follower of the joint",
    ),
    "work_of_changes": Label(
        "work_of_changes", (), "J", "energy brought by numbers that were changed on the way"
    ),
    "kinetic_energy": Label(
        "kinetic_energy", ("body",), "J", "kinetic energy, added mass included", "", _EACH
    ),
    "potential_energy": Label("potential_energy", ("element",), "J", "stored energy"),
    "work": Label(
        "work", ("element",), "J", "work done on the system since the start, without stored energy"
    ),
    "energy_residual": Label(
        "energy_residual", (), "J", "kinetic and stored energy gained minus work done"
    ),
    "closure": Label("closure", (), "m, rad", "largest violation of any joint equation"),
    "spring_tension": Label(
        "spring_tension", ("spring",), "N", "tension, positive pulls the ends together"
    ),
    "spring_length": Label("spring_length", ("spring",), "m", "distance between the ends"),
    "spring_rate": Label(
        "spring_rate", ("spring",), "m/s", "rate of the distance between the ends"
    ),
    "spring_control": Label(
        "spring_control", ("spring",), "N", "actuator force, positive pushes the ends apart"
    ),
    "bushing_wrench": Label(
        "bushing_wrench",
        ("bushing", "dof"),
        "N, N m",
        "force and moment of the bushing at point b",
        "axes of end a",
        "body of end b",
    ),
    "bushing_deformation": Label(
        "bushing_deformation",
        ("bushing", "dof"),
        "m, rad",
        "displacement and rotation vector of b relative to a, from the described pose",
        "axes of end a",
    ),
    "body_contact_force": Label(
        "body_contact_force",
        ("body_contact", "axis"),
        "N",
        "force of all points of the contact",
        _WORLD,
        "body of end a",
    ),
    "body_contact_gap": Label(
        "body_contact_gap",
        ("body_contact",),
        "m",
        "smallest distance of a point from the shape, negative inside",
    ),
    "joint_force_force": Label(
        "joint_force",
        ("joint_element",),
        "N, N m",
        "generalised force on the joint coordinate",
        "joint axes",
        "follower of the joint",
    ),
    "joint_force_control": Label(
        "joint_force_control",
        ("joint_element",),
        "N, N m",
        "actuator part of the joint force",
        "joint axes",
        "follower of the joint",
    ),
    "applied_force": Label(
        "applied_force", ("applied", "axis"), "N", "applied force", "world axes", "see applied_body"
    ),
    "applied_torque": Label(
        "applied_torque",
        ("applied", "axis"),
        "N m",
        "applied torque",
        "world axes",
        "see applied_body",
    ),
    "point_position": Label(
        "point_position", ("point", "axis"), "m", "position of the point", _WORLD, "see point_body"
    ),
    "point_velocity": Label(
        "point_velocity",
        ("point", "axis"),
        "m/s",
        "velocity of the point",
        "world axes",
        "see point_body",
    ),
    "point_acceleration": Label(
        "point_acceleration",
        ("point", "axis"),
        "m/s^2",
        "acceleration of the point",
        "world axes",
        "see point_body",
    ),
    "frame_yaw": Label(
        "mean_yaw",
        ("body",),
        "rad",
        "mean yaw that the hydrodynamic frame follows",
        _WORLD,
        _EACH,
        angles=True,
    ),
    "hydro_excitation": Label(
        "excitation_force", ("body", "dof"), "N, N m", "wave excitation", _POINT, _EACH
    ),
    "hydro_drift": Label(
        "drift_force", ("body", "dof"), "N, N m", "second-order wave force", _POINT, _EACH
    ),
    "hydro_radiation": Label(
        "radiation_force", ("body", "dof"), "N, N m", "radiation memory force", _POINT, _EACH
    ),
    "hydro_hydrostatics": Label(
        "hydrostatic_force", ("body", "dof"), "N, N m", "buoyancy", _POINT, _EACH
    ),
    "hull_force": Label(
        "hull_force",
        ("body", "dof"),
        "N, N m",
        "pressure of the undisturbed sea on the wetted hull, buoyancy included",
        _POINT,
        _EACH,
    ),
    "hull_froude_krylov": Label(
        "froude_krylov_force",
        ("body", "dof"),
        "N, N m",
        "dynamic pressure of the undisturbed sea on the wetted hull",
        _POINT,
        _EACH,
    ),
    "hull_volume": Label(
        "submerged_volume", ("body",), "m^3", "volume under the incident surface", "", _EACH
    ),
    "mooring_wrench": Label(
        "mooring_force",
        ("mooring", "dof"),
        "N, N m",
        "force and moment of the linear mooring",
        _POINT,
        "the moored body",
    ),
    "line_node_tension": Label(
        "line_node_tension", ("line", "line_node"), "N", "tension along the line"
    ),
    "line_stretched_length": Label(
        "line_stretched_length", ("line", "line_segment"), "m", "length of the elements, A first"
    ),
    "quadratic_drag_wrench": Label(
        "quadratic_drag_force",
        ("quadratic_drag", "dof"),
        "N, N m",
        "force and moment of quadratic drag",
        _POINT,
        "the body of the drag",
    ),
    "body_drag_force": Label(
        "body_drag_force",
        ("body_drag", "axis"),
        "N",
        "drag and lift at the centre of pressure",
        "world axes",
        "the body of the drag",
    ),
    "morison_wrench": Label(
        "member_force",
        ("member", "dof"),
        "N, N m",
        "force and moment of the water on the member, without its added mass",
        _POINT,
        "the body of the member",
    ),
    "water_inertia_wrench": Label(
        "water_inertia_force",
        ("water_inertia", "dof"),
        "N, N m",
        "force and moment of moving water on bodies with added mass of their own",
        _POINT,
        "the body",
    ),
    "immersion_depth": Label(
        "immersion_depth", ("immersion",), "m", "depth of the point under the wave surface"
    ),
    "immersion_volume": Label("immersion_volume", ("immersion",), "m^3", "wet volume"),
    "immersion_wrench": Label(
        "immersion_force",
        ("immersion", "dof"),
        "N, N m",
        "force and moment of the water on the body, without its added mass",
        _POINT,
        "the body",
    ),
    "immersion_slamming": Label(
        "slamming_force",
        ("immersion", "axis"),
        "N",
        "force of entry into the water, part of the immersion force",
        "world axes",
        "the body",
    ),
    "wind_force": Label(
        "wind_force", ("wind_drag", "axis"), "N", "wind force", "world axes", "the body of the drag"
    ),
    "absorbed_power": Label(
        "absorbed_power", ("pto",), "W", "power taken from the sea, -F times rate of the coordinate"
    ),
    "delivered_power": Label(
        "delivered_power", ("pto",), "W", "useful power: electric, or behind the motor"
    ),
    "pto_losses": Label("pto_losses", ("pto",), "W", "power lost in the PTO and its end stops"),
    "pto_stored_energy": Label(
        "pto_stored_energy", ("pto",), "J", "energy stored in springs, gas and flywheel"
    ),
    "pto_force": Label(
        "pto_force",
        ("pto",),
        "N, N m",
        "force on the stroke, spring and stops included; positive acts to increase the stroke",
    ),
    "pto_stroke": Label(
        "pto_stroke", ("pto",), "m, rad", "length or coordinate less its rest", angles=True
    ),
    "pto_rate": Label("pto_rate", ("pto",), "m/s, rad/s", "rate of the stroke"),
    "pto_control": Label(
        "pto_control", ("pto",), "N, N m", "force u asked for by signals and controllers"
    ),
    "pto_stop_force": Label("pto_stop_force", ("pto",), "N, N m", "force of the end stops"),
    "pto_limited": Label("pto_limited", ("pto",), "1", "one while a limit of the PTO is active"),
    "pto_latch_force": Label(
        "pto_latch_force", ("pto",), "N, N m", "force of the latch that holds the stroke"
    ),
    "pto_mode": Label("pto_mode", ("pto",), "1", "one while latched or declutched"),
    "pto_pressure": Label("pto_pressure", ("pto",), "Pa", "pressure of high less low side"),
    "pto_oil_volume": Label("pto_oil_volume", ("pto",), "m^3", "oil in the high-pressure side"),
    "pto_oil_total": Label("pto_oil_total", ("pto",), "m^3", "oil in both sides"),
    "pto_flywheel_speed": Label("pto_flywheel_speed", ("pto",), "rad/s", "speed of the flywheel"),
    "pto_copper_loss": Label("pto_copper_loss", ("pto",), "W", "loss in the winding"),
    "distance": Label("distance", ("pair",), "m", "distance between the two points"),
    "distance_rate": Label("distance_rate", ("pair",), "m/s", "rate of the distance"),
    "partition_condition": Label(
        "partition_condition", (), "1", "largest entry of P, the cost of the partition"
    ),
    "line_position": Label(
        "line_position",
        ("line", "line_node", "axis"),
        "m",
        "position of the nodes, A first",
        _WORLD,
    ),
    "line_tension": Label(
        "line_tension", ("line", "line_segment"), "N", "tension of the segments, A first"
    ),
    "line_curvature": Label(
        "line_curvature", ("line", "line_node"), "1/m", "curvature of the line at its nodes"
    ),
    "line_bending_moment": Label(
        "line_bending_moment", ("line", "line_node"), "N m", "bending moment at the nodes"
    ),
    "line_bend_radius": Label(
        "line_bend_radius", ("line",), "m", "min radius of curvature along the line"
    ),
    "line_impulse": Label(
        "line_impulse",
        ("line", "line_segment"),
        "N s",
        "impulse of the tension over the steps since the last sample",
    ),
    "line_mean_tension": Label(
        "line_mean_tension",
        ("line", "line_segment"),
        "N",
        "mean tension over the steps since the last sample",
    ),
    "line_slack": Label(
        "line_slack", ("line", "line_segment"), "1", "one where a segment carries no tension"
    ),
    "line_grounded": Label(
        "line_grounded", ("line", "line_node"), "1", "one where a node lies on the seabed"
    ),
    "fairlead_tension": Label("fairlead_tension", ("line",), "N", "force of the line at end B"),
    "anchor_tension": Label("anchor_tension", ("line",), "N", "force of the line at end A"),
    "anchor_uplift": Label(
        "anchor_uplift", ("line",), "N", "upward part of the force of the line at end A", _WORLD
    ),
    "fairlead_uplift": Label(
        "fairlead_uplift", ("line",), "N", "upward part of the force of the line at end B", _WORLD
    ),
    "anchor_force": Label(
        "anchor_force", ("line", "axis"), "N", "force of the line on what holds end A", _WORLD
    ),
    "fairlead_force": Label(
        "fairlead_force", ("line", "axis"), "N", "force of the line on what holds end B", _WORLD
    ),
    "anchor_angle": Label(
        "anchor_angle",
        ("line",),
        "rad",
        "angle of the force at end A above the horizontal",
        angles=True,
    ),
    "fairlead_angle": Label(
        "fairlead_angle",
        ("line",),
        "rad",
        "angle of the force at end B above the horizontal",
        angles=True,
    ),
    "utilisation": Label(
        "utilisation", ("line",), "1", "max tension along the line over its breaking load"
    ),
    "touchdown": Label(
        "touchdown", ("line",), "m", "distance along the line from A to where it leaves the seabed"
    ),
    "winch_length": Label("winch_length", ("winch",), "m", "unstretched length of line out"),
    "winch_speed": Label("winch_speed", ("winch",), "m/s", "speed of paying out"),
    "winch_tension": Label("winch_tension", ("winch",), "N", "tension of the first segment"),
    "winch_power": Label("winch_power", ("winch",), "W", "power of the winch into the line"),
    "winch_work": Label("winch_work", ("winch",), "J", "work of the winch on the line so far"),
    "winch_rope_mass": Label("winch_rope_mass", ("winch",), "kg", "mass of all segments in use"),
    "winch_rope_energy": Label(
        "winch_rope_energy",
        ("winch",),
        "J",
        "kinetic and potential energy of the rope that came in so far",
    ),
    "winch_rope_momentum": Label(
        "winch_rope_momentum", ("winch", "axis"), "N s", "momentum of that rope", _WORLD
    ),
    "winch_lost_energy": Label(
        "winch_lost_energy", ("winch",), "J", "energy taken by splitting and merging so far"
    ),
    "winch_lost_momentum": Label(
        "winch_lost_momentum",
        ("winch", "axis"),
        "N s",
        "momentum taken by splitting and merging so far",
        _WORLD,
    ),
    "winch_segments": Label("winch_segments", ("winch",), "1", "segments in use"),
    "line_length": Label(
        "line_length", ("line", "line_segment"), "m", "unstretched length, zero where idle"
    ),
    "line_segments": Label(
        "line_segments", ("line",), "1", "segments in use, the last ones of each row"
    ),
    "line_kinetic_energy": Label(
        "line_kinetic_energy", ("line",), "J", "kinetic energy half a step later"
    ),
    "line_stored_energy": Label(
        "line_stored_energy", ("line",), "J", "energy of stretch and bending half a step later"
    ),
    "line_potential_energy": Label(
        "line_potential_energy", ("line",), "J", "of weight less buoyancy, half a step later"
    ),
    "junction_position": Label(
        "junction_position", ("junction", "axis"), "m", "position of the junctions", _WORLD
    ),
    "contact_force": Label(
        "contact_force", ("contact", "axis"), "N", "force of the seabed at the point", _WORLD
    ),
    "length_violation": Label(
        "length_violation", (), "m", "largest excess length of an inextensible segment"
    ),
    "penetration": Label("penetration", (), "m", "largest depth of a node below the seabed"),
    "complementarity": Label(
        "complementarity", (), "J", "largest product of tension and slack of inextensible segments"
    ),
    "iterations": Label(
        "iterations", (), "1", "iterations of the hardest step since the last sample"
    ),
    "residual": Label(
        "residual", (), "m", "largest residual since the last sample, before the last correction"
    ),
}


def attributes(label: Label) -> dict[str, str]:
    """Attributes of a variable."""
    texts = {
        "units": label.units,
        "long_name": label.long_name,
        "frame": label.frame,
        "on_body": label.on_body,
        ANGLES: "yes" if label.angles else "",
    }
    return {key: text for key, text in texts.items() if text}


# --- Labels of channels that only the effect itself knows, such as those of users' own effects


def own_labels(model: Model, raw: dict[str, Array]) -> dict[str, Label]:
    """Labels of channels that are not among the known ones.

    Args:
        model: that was run.
        raw: channels, time first.
    """
    labels = {}
    for effect in model.effects:
        names = [name for name in raw if effect.prefix and name.startswith(effect.prefix)]
        for name in names:
            plain = name.removeprefix(effect.prefix)
            if name not in LABELS and (effect.shows_all or plain in effect.units):
                shape = raw[name].shape[1:]
                dims = effect.dims.get(plain) or _dims(model, name, shape)
                about = f"{plain.replace('_', ' ')} of {effect.word}"
                unit = effect.units.get(plain, "")
                labels[name] = Label(name, dims, unit, about, angles=unit == "rad")
    return labels


def _dims(model: Model, name: str, shape: tuple[int, ...]) -> tuple[str, ...]:
    """Dimensions of a channel by its shape: bodies, axes and directions have known numbers."""
    known = {model.layout.n_bodies: "body", 3: "axis", 6: "dof"}
    first = [known.get(shape[0], f"{name}_0")] if shape else []
    if len(shape) == 1 and shape[0] in (3, 6):
        first = [{3: "axis", 6: "dof"}[shape[0]]]
    rest = [{3: "axis", 6: "dof"}.get(n, f"{name}_{k}") for k, n in enumerate(shape[1:], 1)]
    return (*first, *rest)
