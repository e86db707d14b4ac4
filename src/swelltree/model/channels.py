"""Names, dimensions, units and frames of everything a run reports.

One table turns the raw channels of a run into variables. A unit such as "m, rad" belongs to
translations and rotations in this order; the coordinate `dof` or `coordinate_turns` says which
of the two an entry is.
"""

from __future__ import annotations

from swelltree.jit import Array
from swelltree.model.capabilities import WrittenByUser, having
from swelltree.model.effect import Channel
from swelltree.model.model import Model

DOFS = ("Surge", "Sway", "Heave", "Roll", "Pitch", "Yaw")
AXES = ("x", "y", "z")

_WORLD = "world axes, z up from the still water"
_POINT = "world axes, at the reference point of the body"
_EACH = "each body"
HEADING = "heading axes of the body: world axes turned about z by its yaw at the datum"
_FOLLOWER = "follower of the joint, by the base"


ANGLES = "angles"  # attribute of variables


# raw channel -> variable; channels that need work (attitude, energy) are made in `dataset`
CHANNELS: dict[str, Channel] = {
    "position": Channel(
        "position",
        ("body", "dof"),
        "m, rad",
        "position of the reference point; roll, pitch, yaw (intrinsic z-y-x) of the attitude, "
        "roll and yaw from -pi to pi, where they jump; joint coordinates count turns",
        _WORLD,
        _EACH,
        angles=True,
    ),
    "displacement": Channel(
        "displacement",
        ("body", "dof"),
        "m, rad",
        "motion of the reference point from the datum; roll, pitch, yaw (intrinsic z-y-x) of the "
        "attitude, roll and yaw from -pi to pi, where they jump; joint coordinates count turns",
        HEADING,
        _EACH,
        angles=True,
    ),
    "velocity": Channel(
        "velocity", ("body", "dof"), "m/s, rad/s", "velocity and angular velocity", _POINT, _EACH
    ),
    "acceleration": Channel(
        "acceleration",
        ("body", "dof"),
        "m/s^2, rad/s^2",
        "acceleration and angular acceleration",
        _POINT,
        _EACH,
    ),
    "rotation": Channel(
        "rotation",
        ("body", "axis", "body_axis"),
        "1",
        "rotation matrix from body axes to world axes",
        "body axes to world axes",
        _EACH,
    ),
    "quaternion": Channel(
        "quaternion",
        ("body", "component"),
        "1",
        "attitude as unit quaternion (w, x, y, z)",
        "body axes to world axes",
        _EACH,
    ),
    "wrench": Channel(
        "wrench",
        ("body", "dof"),
        "N, N m",
        "force and moment of all force elements",
        _POINT,
        _EACH,
    ),
    "coordinate": Channel(
        "joint_coordinate",
        ("coordinate",),
        "m, rad",
        "joint coordinate, follower relative to base; three free rotations (ball, free) are roll, "
        "pitch, yaw (intrinsic z-y-x), continuous from sample to sample; the two of a cable "
        "element are components of the rotation vector",
        "joint axes",
        angles=True,
    ),
    "rate": Channel(
        "joint_rate",
        ("coordinate",),
        "m/s, rad/s",
        "rate of the joint coordinate, follower relative to base; of a cable element components "
        "of the angular velocity; roll and yaw have none at a pitch of a quarter turn",
        "joint axes",
    ),
    "reaction": Channel(
        "reaction",
        ("joint", "dof"),
        "N, N m",
        "reaction force and moment at the joint point",
        "world axes, at the joint point",
        _FOLLOWER,
    ),
    "reaction_joint_axes": Channel(
        "reaction_joint_axes",
        ("joint", "dof"),
        "N, N m",
        "reaction force and moment at the joint point",
        "joint axes, at the joint point",
        _FOLLOWER,
    ),
    "coupling_force": Channel(
        "coupling_force",
        ("coupling_term",),
        "N, N m",
        "force of a coupling on the joint coordinate",
        "joint axes",
        "follower of the joint",
    ),
    "joint_point": Channel(
        "joint_point",
        ("joint", "axis"),
        "m",
        "joint point on the follower",
        _WORLD,
        "follower of the joint",
    ),
    "work_of_changes": Channel(
        "work_of_changes", (), "J", "energy brought by numbers that were changed on the way"
    ),
    "kinetic_energy": Channel(
        "kinetic_energy", ("body",), "J", "kinetic energy, added mass included", "", _EACH
    ),
    "potential_energy": Channel("potential_energy", ("element",), "J", "stored energy"),
    "work": Channel(
        "work", ("element",), "J", "work done on the system since the start, without stored energy"
    ),
    "energy_residual": Channel(
        "energy_residual", (), "J", "kinetic and stored energy gained minus work done"
    ),
    "closure": Channel("closure", (), "m, rad", "largest violation of any joint equation"),
    "spring_tension": Channel(
        "spring_tension", ("spring",), "N", "tension, positive pulls the ends together"
    ),
    "spring_length": Channel("spring_length", ("spring",), "m", "distance between the ends"),
    "spring_rate": Channel(
        "spring_rate", ("spring",), "m/s", "rate of the distance between the ends"
    ),
    "spring_control": Channel(
        "spring_control", ("spring",), "N", "actuator force, positive pushes the ends apart"
    ),
    "bushing_wrench": Channel(
        "bushing_wrench",
        ("bushing", "dof"),
        "N, N m",
        "force and moment of the bushing at point b",
        "axes of end a",
        "body of end b",
    ),
    "bushing_deformation": Channel(
        "bushing_deformation",
        ("bushing", "dof"),
        "m, rad",
        "displacement and rotation vector of b relative to a, from the described pose",
        "axes of end a",
    ),
    "body_contact_force": Channel(
        "body_contact_force",
        ("body_contact", "axis"),
        "N",
        "force of all points of the contact",
        _WORLD,
        "body of end a",
    ),
    "body_contact_gap": Channel(
        "body_contact_gap",
        ("body_contact",),
        "m",
        "smallest distance of a point from the shape, negative inside",
    ),
    "joint_force_force": Channel(
        "joint_force",
        ("joint_element",),
        "N, N m",
        "generalised force on the joint coordinate",
        "joint axes",
        "follower of the joint",
    ),
    "joint_force_control": Channel(
        "joint_force_control",
        ("joint_element",),
        "N, N m",
        "actuator part of the joint force",
        "joint axes",
        "follower of the joint",
    ),
    "applied_force": Channel(
        "applied_force", ("applied", "axis"), "N", "applied force", "world axes", "see applied_body"
    ),
    "applied_torque": Channel(
        "applied_torque",
        ("applied", "axis"),
        "N m",
        "applied torque",
        "world axes",
        "see applied_body",
    ),
    "point_position": Channel(
        "point_position", ("point", "axis"), "m", "position of the point", _WORLD, "see point_body"
    ),
    "point_velocity": Channel(
        "point_velocity",
        ("point", "axis"),
        "m/s",
        "velocity of the point",
        "world axes",
        "see point_body",
    ),
    "point_acceleration": Channel(
        "point_acceleration",
        ("point", "axis"),
        "m/s^2",
        "acceleration of the point",
        "world axes",
        "see point_body",
    ),
    "frame_yaw": Channel(
        "mean_yaw",
        ("body",),
        "rad",
        "mean yaw that the hydrodynamic frame follows",
        _WORLD,
        _EACH,
        angles=True,
    ),
    "hydro_excitation": Channel(
        "excitation_force", ("body", "dof"), "N, N m", "wave excitation", _POINT, _EACH
    ),
    "hydro_drift": Channel(
        "drift_force", ("body", "dof"), "N, N m", "second-order wave force", _POINT, _EACH
    ),
    "hydro_radiation": Channel(
        "radiation_force", ("body", "dof"), "N, N m", "radiation memory force", _POINT, _EACH
    ),
    "hydro_hydrostatics": Channel(
        "hydrostatic_force", ("body", "dof"), "N, N m", "buoyancy", _POINT, _EACH
    ),
    "hull_force": Channel(
        "hull_force",
        ("body", "dof"),
        "N, N m",
        "pressure of the undisturbed sea on the wetted hull, buoyancy included",
        _POINT,
        _EACH,
    ),
    "hull_froude_krylov": Channel(
        "froude_krylov_force",
        ("body", "dof"),
        "N, N m",
        "dynamic pressure of the undisturbed sea on the wetted hull",
        _POINT,
        _EACH,
    ),
    "hull_volume": Channel(
        "submerged_volume", ("body",), "m^3", "volume under the incident surface", "", _EACH
    ),
    "mooring_wrench": Channel(
        "mooring_force",
        ("mooring", "dof"),
        "N, N m",
        "force and moment of the linear mooring",
        _POINT,
        "the moored body",
    ),
    "line_node_tension": Channel(
        "line_node_tension", ("line", "line_node"), "N", "tension along the line"
    ),
    "line_stretched_length": Channel(
        "line_stretched_length", ("line", "line_segment"), "m", "length of the elements, A first"
    ),
    "quadratic_drag_wrench": Channel(
        "quadratic_drag_force",
        ("quadratic_drag", "dof"),
        "N, N m",
        "force and moment of quadratic drag",
        _POINT,
        "the body of the drag",
    ),
    "body_drag_force": Channel(
        "body_drag_force",
        ("body_drag", "axis"),
        "N",
        "drag and lift at the centre of pressure",
        "world axes",
        "the body of the drag",
    ),
    "morison_wrench": Channel(
        "member_force",
        ("member", "dof"),
        "N, N m",
        "force and moment of the water on the member, without its added mass",
        _POINT,
        "the body of the member",
    ),
    "water_inertia_wrench": Channel(
        "water_inertia_force",
        ("water_inertia", "dof"),
        "N, N m",
        "force and moment of moving water on bodies with added mass of their own",
        _POINT,
        "the body",
    ),
    "immersion_depth": Channel(
        "immersion_depth", ("immersion",), "m", "depth of the point under the wave surface"
    ),
    "immersion_volume": Channel("immersion_volume", ("immersion",), "m^3", "wet volume"),
    "immersion_wrench": Channel(
        "immersion_force",
        ("immersion", "dof"),
        "N, N m",
        "force and moment of the water on the body, without its added mass",
        _POINT,
        "the body",
    ),
    "immersion_slamming": Channel(
        "slamming_force",
        ("immersion", "axis"),
        "N",
        "force of entry into the water, part of the immersion force",
        "world axes",
        "the body",
    ),
    "wind_force": Channel(
        "wind_force", ("wind_drag", "axis"), "N", "wind force", "world axes", "the body of the drag"
    ),
    "absorbed_power": Channel(
        "absorbed_power", ("pto",), "W", "power taken from the sea, -F times rate of the coordinate"
    ),
    "delivered_power": Channel(
        "delivered_power", ("pto",), "W", "useful power: electric, or behind the motor"
    ),
    "pto_losses": Channel("pto_losses", ("pto",), "W", "power lost in the PTO and its end stops"),
    "pto_stored_energy": Channel(
        "pto_stored_energy", ("pto",), "J", "energy stored in springs, gas and flywheel"
    ),
    "pto_force": Channel(
        "pto_force",
        ("pto",),
        "N, N m",
        "force on the stroke, spring and stops included; positive acts to increase the stroke",
    ),
    "pto_stroke": Channel(
        "pto_stroke", ("pto",), "m, rad", "length or coordinate less its rest", angles=True
    ),
    "pto_rate": Channel("pto_rate", ("pto",), "m/s, rad/s", "rate of the stroke"),
    "pto_control": Channel(
        "pto_control", ("pto",), "N, N m", "force u asked for by signals and controllers"
    ),
    "pto_stop_force": Channel("pto_stop_force", ("pto",), "N, N m", "force of the end stops"),
    "pto_limited": Channel("pto_limited", ("pto",), "1", "one while a limit of the PTO is active"),
    "pto_latch_force": Channel(
        "pto_latch_force", ("pto",), "N, N m", "force of the latch that holds the stroke"
    ),
    "pto_mode": Channel("pto_mode", ("pto",), "1", "one while latched or declutched"),
    "pto_pressure": Channel("pto_pressure", ("pto",), "Pa", "pressure of high less low side"),
    "pto_oil_volume": Channel("pto_oil_volume", ("pto",), "m^3", "oil in the high-pressure side"),
    "pto_oil_total": Channel("pto_oil_total", ("pto",), "m^3", "oil in both sides"),
    "pto_flywheel_speed": Channel("pto_flywheel_speed", ("pto",), "rad/s", "speed of the flywheel"),
    "pto_copper_loss": Channel("pto_copper_loss", ("pto",), "W", "loss in the winding"),
    "distance": Channel("distance", ("pair",), "m", "distance between the two points"),
    "distance_rate": Channel("distance_rate", ("pair",), "m/s", "rate of the distance"),
    "partition_condition": Channel(
        "partition_condition", (), "1", "largest entry of P, the cost of the partition"
    ),
    "line_position": Channel(
        "line_position",
        ("line", "line_node", "axis"),
        "m",
        "position of the nodes, A first",
        _WORLD,
    ),
    "line_tension": Channel(
        "line_tension", ("line", "line_segment"), "N", "tension of the segments, A first"
    ),
    "line_permanent_strain": Channel(
        "line_permanent_strain",
        ("line", "line_segment"),
        "1",
        "strain that remains at no tension, A first",
    ),
    "line_curvature": Channel(
        "line_curvature", ("line", "line_node"), "1/m", "curvature of the line at its nodes"
    ),
    "line_bending_moment": Channel(
        "line_bending_moment", ("line", "line_node"), "N m", "bending moment at the nodes"
    ),
    "line_bend_radius": Channel(
        "line_bend_radius", ("line",), "m", "min radius of curvature along the line"
    ),
    "line_impulse": Channel(
        "line_impulse",
        ("line", "line_segment"),
        "N s",
        "impulse of the tension over the steps since the last sample",
    ),
    "line_mean_tension": Channel(
        "line_mean_tension",
        ("line", "line_segment"),
        "N",
        "mean tension over the steps since the last sample",
    ),
    "line_slack": Channel(
        "line_slack", ("line", "line_segment"), "1", "one where a segment carries no tension"
    ),
    "line_grounded": Channel(
        "line_grounded", ("line", "line_node"), "1", "one where a node lies on the seabed"
    ),
    "fairlead_tension": Channel("fairlead_tension", ("line",), "N", "force of the line at end B"),
    "anchor_tension": Channel("anchor_tension", ("line",), "N", "force of the line at end A"),
    "anchor_uplift": Channel(
        "anchor_uplift", ("line",), "N", "upward part of the force of the line at end A", _WORLD
    ),
    "fairlead_uplift": Channel(
        "fairlead_uplift", ("line",), "N", "upward part of the force of the line at end B", _WORLD
    ),
    "anchor_force": Channel(
        "anchor_force", ("line", "axis"), "N", "force of the line on what holds end A", _WORLD
    ),
    "fairlead_force": Channel(
        "fairlead_force", ("line", "axis"), "N", "force of the line on what holds end B", _WORLD
    ),
    "anchor_angle": Channel(
        "anchor_angle",
        ("line",),
        "rad",
        "angle of the force at end A above the horizontal",
        angles=True,
    ),
    "fairlead_angle": Channel(
        "fairlead_angle",
        ("line",),
        "rad",
        "angle of the force at end B above the horizontal",
        angles=True,
    ),
    "utilisation": Channel(
        "utilisation", ("line",), "1", "max tension along the line over its breaking load"
    ),
    "touchdown": Channel(
        "touchdown", ("line",), "m", "distance along the line from A to where it leaves the seabed"
    ),
    "winch_length": Channel("winch_length", ("winch",), "m", "unstretched length of line out"),
    "winch_speed": Channel("winch_speed", ("winch",), "m/s", "speed of paying out"),
    "winch_tension": Channel("winch_tension", ("winch",), "N", "tension of the first segment"),
    "winch_power": Channel("winch_power", ("winch",), "W", "power of the winch into the line"),
    "winch_work": Channel("winch_work", ("winch",), "J", "work of the winch on the line so far"),
    "winch_rope_mass": Channel("winch_rope_mass", ("winch",), "kg", "mass of all segments in use"),
    "winch_rope_energy": Channel(
        "winch_rope_energy",
        ("winch",),
        "J",
        "kinetic and potential energy of the rope that came in so far",
    ),
    "winch_rope_momentum": Channel(
        "winch_rope_momentum", ("winch", "axis"), "N s", "momentum of that rope", _WORLD
    ),
    "winch_lost_energy": Channel(
        "winch_lost_energy", ("winch",), "J", "energy taken by splitting and merging so far"
    ),
    "winch_lost_momentum": Channel(
        "winch_lost_momentum",
        ("winch", "axis"),
        "N s",
        "momentum taken by splitting and merging so far",
        _WORLD,
    ),
    "winch_segments": Channel("winch_segments", ("winch",), "1", "segments in use"),
    "line_length": Channel(
        "line_length", ("line", "line_segment"), "m", "unstretched length, zero where idle"
    ),
    "line_segments": Channel(
        "line_segments", ("line",), "1", "segments in use, the last ones of each row"
    ),
    "line_kinetic_energy": Channel("line_kinetic_energy", ("line",), "J", "kinetic energy"),
    "line_stored_energy": Channel(
        "line_stored_energy", ("line",), "J", "energy of stretch and bending"
    ),
    "line_potential_energy": Channel(
        "line_potential_energy", ("line",), "J", "of weight less buoyancy"
    ),
    "junction_position": Channel(
        "junction_position", ("junction", "axis"), "m", "position of the junctions", _WORLD
    ),
    "contact_force": Channel(
        "contact_force", ("contact", "axis"), "N", "force of the seabed at the point", _WORLD
    ),
    "length_violation": Channel(
        "length_violation", (), "m", "largest excess length of an inextensible segment"
    ),
    "penetration": Channel("penetration", (), "m", "largest depth of a node below the seabed"),
    "complementarity": Channel(
        "complementarity", (), "J", "largest product of tension and slack of inextensible segments"
    ),
    # weak scatterers, rotors, controllers
    "weak_scatterer_force": Channel(
        "weak_scatterer_force", ("body", "dof"), "N, N m", "force of the water", _POINT, _EACH
    ),
    "weak_scatterer_fluid_energy": Channel(
        "weak_scatterer_fluid_energy", (), "J", "energy of the water that moves"
    ),
    "weak_scatterer_beach_power": Channel(
        "weak_scatterer_beach_power", (), "W", "power that the beach takes"
    ),
    "weak_scatterer_waterline_power": Channel(
        "weak_scatterer_waterline_power", (), "W", "power at the waterlines"
    ),
    "weak_scatterer_smoothing_power": Channel(
        "weak_scatterer_smoothing_power", (), "W", "power that smoothing takes"
    ),
    "weak_scatterer_displaced_mass": Channel(
        "weak_scatterer_displaced_mass", ("body",), "kg", "displaced mass of water", "", _EACH
    ),
    "weak_scatterer_surface_mass": Channel(
        "weak_scatterer_surface_mass", (), "kg", "mass of water above the mean surface"
    ),
    "weak_scatterer_beach_mass_rate": Channel(
        "weak_scatterer_beach_mass_rate", (), "kg/s", "mass of water through the beach"
    ),
    "weak_scatterer_swept_mass_rate": Channel(
        "weak_scatterer_swept_mass_rate", (), "kg/s", "mass of water swept by the waterlines"
    ),
    "weak_scatterer_remeshing_mass": Channel(
        "weak_scatterer_remeshing_mass", (), "kg", "displaced mass that is not on the surface"
    ),
    "weak_scatterer_remeshing": Channel(
        "weak_scatterer_remeshing", (), "J", "energy that new meshes add"
    ),
    "weak_scatterer_elevation": Channel(
        "weak_scatterer_elevation", ("surface_vertex",), "m", "elevation without the incident wave"
    ),
    "weak_scatterer_surface": Channel(
        "weak_scatterer_surface", ("surface_vertex", "axis"), "m", "free surface", _WORLD
    ),
    "weak_scatterer_pressure": Channel(
        "weak_scatterer_pressure", ("hull_vertex",), "Pa", "pressure on the hulls"
    ),
    "weak_scatterer_hull": Channel(
        "weak_scatterer_hull", ("hull_vertex", "axis"), "m", "hulls under water", _WORLD
    ),
    "weak_scatterer_state": Channel(
        "weak_scatterer_state",
        ("body",),
        "1",
        "0 dry, 1 cut by the surface, 2 under it, 3 entering with added mass by depth",
        "",
        _EACH,
    ),
    "weak_scatterer_surface_triangles": Channel(
        "weak_scatterer_surface_triangles",
        ("surface_triangle", "corner"),
        "1",
        "vertices of the triangles of the free surface",
    ),
    "weak_scatterer_hull_triangles": Channel(
        "weak_scatterer_hull_triangles",
        ("hull_triangle", "corner"),
        "1",
        "vertices of the triangles of hulls under water",
    ),
    "rotor_thrust": Channel("rotor_thrust", ("rotor",), "N", "thrust of the rotor"),
    "rotor_wind": Channel("rotor_wind", ("rotor",), "m/s", "wind along the axis of the rotor"),
    "rotor_power": Channel("rotor_power", ("rotor",), "W", "power of the rotor"),
    "controller_state": Channel(
        "controller_state", ("control_state",), "", "state of the law of a controller"
    ),
    "iterations": Channel(
        "iterations", (), "1", "iterations of the hardest step since the last sample"
    ),
    "residual": Channel(
        "residual", (), "m", "largest residual since the last sample, before the last correction"
    ),
}


def attributes(channel: Channel) -> dict[str, str]:
    texts = {
        "units": channel.units,
        "long_name": channel.long_name,
        "frame": channel.frame,
        "on_body": channel.on_body,
        ANGLES: "yes" if channel.angles else "",
    }
    return {key: text for key, text in texts.items() if text}


# --- Channels of users' own effects, which declare them or leave them to their shapes


def own_channels(model: Model, raw: dict[str, Array]) -> dict[str, Channel]:
    """Channels of users' own effects.

    Args:
        model: that was run.
        raw: channels, time first.
    """
    result = {}
    for effect in having(model, WrittenByUser):
        declared = {channel.name: channel for channel in effect.channels}
        for name in (name for name in raw if name.startswith(effect.prefix)):
            plain = name.removeprefix(effect.prefix)
            channel = declared.get(plain, Channel(plain))
            about = channel.long_name or f"{plain.replace('_', ' ')} of {effect.word}"
            dims = channel.dims or _dims(model, name, raw[name].shape[1:])
            angles = channel.angles or channel.units == "rad"
            result[name] = channel._replace(name=name, dims=dims, long_name=about, angles=angles)
    return {name: channel for name, channel in result.items() if name not in CHANNELS}


def _dims(model: Model, name: str, shape: tuple[int, ...]) -> tuple[str, ...]:
    """Dimensions of a channel from its shape."""
    known = {model.layout.n_bodies: "body", 3: "axis", 6: "dof"}
    first = [known.get(shape[0], f"{name}_0")] if shape else []
    if len(shape) == 1 and shape[0] in (3, 6):
        first = [{3: "axis", 6: "dof"}[shape[0]]]
    rest = [{3: "axis", 6: "dof"}.get(n, f"{name}_{k}") for k, n in enumerate(shape[1:], 1)]
    return (*first, *rest)
