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

HEADING = "heading axes of the body: world axes turned about z by its yaw at the datum"
ANGLES = "angles"  # attribute of variables

# words of the table below for frames and bodies
_SHORT = {
    "-": "",
    "world": "world axes, z up from the still water",
    "point": "world axes, at the reference point of the body",
    "heading": HEADING,
    "each": "each body",
}

# [dimensions] of the rows that follow, each with the raw channel (= variable, where it has another
# name; angles: its rotations count turns) | units | long name | frame | body that it belongs to;
# indented lines continue a row; channels that need work (attitude, energy) are made in `dataset`
_TABLE = """
[body dof]
position (angles) | m, rad | position of the reference point; roll, pitch, yaw (intrinsic z-y-x)
    of the attitude, roll and yaw from -pi to pi, where they jump; joint coordinates count turns
    | world | each
displacement (angles) | m, rad | motion of the reference point from the datum; roll, pitch, yaw
    (intrinsic z-y-x) of the attitude, roll and yaw from -pi to pi, where they jump; joint
    coordinates count turns | heading | each
velocity | m/s, rad/s | velocity and angular velocity | point | each
acceleration | m/s^2, rad/s^2 | acceleration and angular acceleration | point | each
[body axis body_axis]
rotation | 1 | rotation matrix from body axes to world axes | body axes to world axes | each
[body component]
quaternion | 1 | attitude as unit quaternion (w, x, y, z) | body axes to world axes | each
[body dof]
wrench | N, N m | force and moment of all force elements | point | each
[coordinate]
coordinate = joint_coordinate (angles) | m, rad | joint coordinate, follower relative to base;
    three free rotations (ball, free) are roll, pitch, yaw (intrinsic z-y-x), continuous from
    sample to sample; the two of a cable element are components of the rotation vector | joint
    axes
rate = joint_rate | m/s, rad/s | rate of the joint coordinate, follower relative to base; of a
    cable element components of the angular velocity; roll and yaw have none at a pitch of a
    quarter turn | joint axes
[joint dof]
reaction | N, N m | reaction force and moment at the joint point | world axes, at the joint
    point | follower of the joint, by the base
reaction_joint_axes | N, N m | reaction force and moment at the joint point | joint axes, at the
    joint point | follower of the joint, by the base
[coupling_term]
coupling_force | N, N m | force of a coupling on the joint coordinate | joint axes | follower of
    the joint
[joint axis]
joint_point | m | joint point on the follower | world | follower of the joint
[]
work_of_changes | J | energy brought by numbers that were changed on the way
[body]
kinetic_energy | J | kinetic energy, added mass included | - | each
[element]
potential_energy | J | stored energy
work | J | work done on the system since the start, without stored energy
[]
energy_residual | J | kinetic and stored energy gained minus work done
closure | m, rad | largest violation of any joint equation
[spring]
spring_tension | N | tension, positive pulls the ends together
spring_length | m | distance between the ends
spring_rate | m/s | rate of the distance between the ends
spring_control | N | actuator force, positive pushes the ends apart
[bushing dof]
bushing_wrench | N, N m | force and moment of the bushing at point b | axes of end a | body of
    end b
bushing_deformation | m, rad | displacement and rotation vector of b relative to a, from the
    described pose | axes of end a
[body_contact axis]
body_contact_force | N | force of all points of the contact | world | body of end a
[body_contact]
body_contact_gap | m | smallest distance of a point from the shape, negative inside
[joint_element]
joint_force_force = joint_force | N, N m | generalised force on the joint coordinate | joint
    axes | follower of the joint
joint_force_control | N, N m | actuator part of the joint force | joint axes | follower of the
    joint
[applied axis]
applied_force | N | applied force | world axes | see applied_body
applied_torque | N m | applied torque | world axes | see applied_body
[point axis]
point_position | m | position of the point | world | see point_body
point_velocity | m/s | velocity of the point | world axes | see point_body
point_acceleration | m/s^2 | acceleration of the point | world axes | see point_body
[body]
frame_yaw = mean_yaw (angles) | rad | mean yaw that the hydrodynamic frame follows | world |
    each
[body dof]
hydro_excitation = excitation_force | N, N m | wave excitation | point | each
hydro_drift = drift_force | N, N m | second-order wave force | point | each
hydro_radiation = radiation_force | N, N m | radiation memory force | point | each
hydro_hydrostatics = hydrostatic_force | N, N m | buoyancy | point | each
hull_force | N, N m | pressure of the undisturbed sea on the wetted hull, buoyancy included |
    point | each
hull_froude_krylov = froude_krylov_force | N, N m | dynamic pressure of the undisturbed sea on
    the wetted hull | point | each
[body]
hull_volume = submerged_volume | m^3 | volume under the incident surface | - | each
[mooring dof]
mooring_wrench = mooring_force | N, N m | force and moment of the linear mooring | point | the
    moored body
[line line_node]
line_node_tension | N | tension along the line
[line line_segment]
line_stretched_length | m | length of the elements, A first
[quadratic_drag dof]
quadratic_drag_wrench = quadratic_drag_force | N, N m | force and moment of quadratic drag |
    point | the body of the drag
[body_drag axis]
body_drag_force | N | drag and lift at the centre of pressure | world axes | the body of the
    drag
[member dof]
morison_wrench = member_force | N, N m | force and moment of the water on the member, without
    its added mass | point | the body of the member
[water_inertia dof]
water_inertia_wrench = water_inertia_force | N, N m | force and moment of moving water on bodies
    with added mass of their own | point | the body
[immersion]
immersion_depth | m | depth of the point under the wave surface
immersion_volume | m^3 | wet volume
[immersion dof]
immersion_wrench = immersion_force | N, N m | force and moment of the water on the body, without
    its added mass | point | the body
[immersion axis]
immersion_slamming = slamming_force | N | force of entry into the water, part of the immersion
    force | world axes | the body
[wind_drag axis]
wind_force | N | wind force | world axes | the body of the drag
[pto]
absorbed_power | W | power taken from the sea, -F times rate of the coordinate
delivered_power | W | useful power: electric, or behind the motor
pto_losses | W | power lost in the PTO and its end stops
pto_stored_energy | J | energy stored in springs, gas and flywheel
pto_force | N, N m | force on the stroke, spring and stops included; positive acts to increase
    the stroke
pto_stroke (angles) | m, rad | length or coordinate less its rest
pto_rate | m/s, rad/s | rate of the stroke
pto_control | N, N m | force u asked for by signals and controllers
pto_stop_force | N, N m | force of the end stops
pto_limited | 1 | one while a limit of the PTO is active
pto_latch_force | N, N m | force of the latch that holds the stroke
pto_mode | 1 | one while latched or declutched
pto_pressure | Pa | pressure of high less low side
pto_oil_volume | m^3 | oil in the high-pressure side
pto_oil_total | m^3 | oil in both sides
pto_flywheel_speed | rad/s | speed of the flywheel
pto_copper_loss | W | loss in the winding
[pair]
distance | m | distance between the two points
distance_rate | m/s | rate of the distance
[]
partition_condition | 1 | largest entry of P, the cost of the partition
[line line_node axis]
line_position | m | position of the nodes, A first | world
[line line_segment]
line_tension | N | tension of the segments, A first
line_permanent_strain | 1 | strain that remains at no tension, A first
[line line_node]
line_curvature | 1/m | curvature of the line at its nodes
line_bending_moment | N m | bending moment at the nodes
[line]
line_bend_radius | m | min radius of curvature along the line
[line line_segment]
line_impulse | N s | impulse of the tension over the steps since the last sample
line_mean_tension | N | mean tension over the steps since the last sample
line_slack | 1 | one where a segment carries no tension
[line line_node]
line_grounded | 1 | one where a node lies on the seabed
[line]
fairlead_tension | N | force of the line at end B
anchor_tension | N | force of the line at end A
anchor_uplift | N | upward part of the force of the line at end A | world
fairlead_uplift | N | upward part of the force of the line at end B | world
[line axis]
anchor_force | N | force of the line on what holds end A | world
fairlead_force | N | force of the line on what holds end B | world
[line]
anchor_angle (angles) | rad | angle of the force at end A above the horizontal
fairlead_angle (angles) | rad | angle of the force at end B above the horizontal
utilisation | 1 | max tension along the line over its breaking load
touchdown | m | distance along the line from A to where it leaves the seabed
[winch]
winch_length | m | unstretched length of line out
winch_speed | m/s | speed of paying out
winch_tension | N | tension of the first segment
winch_power | W | power of the winch into the line
winch_work | J | work of the winch on the line so far
winch_rope_mass | kg | mass of all segments in use
winch_rope_energy | J | kinetic and potential energy of the rope that came in so far
[winch axis]
winch_rope_momentum | N s | momentum of that rope | world
[winch]
winch_lost_energy | J | energy taken by splitting and merging so far
[winch axis]
winch_lost_momentum | N s | momentum taken by splitting and merging so far | world
[winch]
winch_segments | 1 | segments in use
[line line_segment]
line_length | m | unstretched length, zero where idle
[line]
line_segments | 1 | segments in use, the last ones of each row
line_kinetic_energy | J | kinetic energy
line_stored_energy | J | energy of stretch and bending
line_potential_energy | J | of weight less buoyancy
[junction axis]
junction_position | m | position of the junctions | world
[contact axis]
contact_force | N | force of the seabed at the point | world
[]
length_violation | m | largest excess length of an inextensible segment
penetration | m | largest depth of a node below the seabed
complementarity | J | largest product of tension and slack of inextensible segments
[body dof]
weak_scatterer_force | N, N m | force of the water | point | each
[]
weak_scatterer_fluid_energy | J | energy of the water that moves
weak_scatterer_beach_power | W | power that the beach takes
weak_scatterer_waterline_power | W | power at the waterlines
weak_scatterer_smoothing_power | W | power that smoothing takes
[body]
weak_scatterer_displaced_mass | kg | displaced mass of water | - | each
[]
weak_scatterer_surface_mass | kg | mass of water above the mean surface
weak_scatterer_beach_mass_rate | kg/s | mass of water through the beach
weak_scatterer_swept_mass_rate | kg/s | mass of water swept by the waterlines
weak_scatterer_remeshing_mass | kg | displaced mass that is not on the surface
weak_scatterer_remeshing | J | energy that new meshes add
[surface_vertex]
weak_scatterer_elevation | m | elevation without the incident wave
[surface_vertex axis]
weak_scatterer_surface | m | free surface | world
[hull_vertex]
weak_scatterer_pressure | Pa | pressure on the hulls
[hull_vertex axis]
weak_scatterer_hull | m | hulls under water | world
[body]
weak_scatterer_state | 1 | 0 dry, 1 cut by the surface, 2 under it, 3 entering with added mass
    by depth | - | each
[surface_triangle corner]
weak_scatterer_surface_triangles | 1 | vertices of the triangles of the free surface
[hull_triangle corner]
weak_scatterer_hull_triangles | 1 | vertices of the triangles of hulls under water
[rotor]
rotor_thrust | N | thrust of the rotor
rotor_wind | m/s | wind along the axis of the rotor
rotor_power | W | power of the rotor
[control_state]
controller_state | - | state of the law of a controller
[]
iterations | 1 | iterations of the hardest step since the last sample
residual | m | largest residual since the last sample, before the last correction
"""


def _channels(table: str) -> dict[str, Channel]:
    """Raw channel -> variable."""
    result: dict[str, Channel] = {}
    dims: tuple[str, ...] = ()
    for row in table.strip().replace("\n    ", " ").split("\n"):
        if row.startswith("["):
            dims = tuple(row[1:-1].split())
            continue
        head, *cells = row.split(" | ")
        units, about, frame, body = (_SHORT.get(x, x) for x in (*cells, "-", "-")[:4])
        raw, _, name = head.removesuffix(" (angles)").partition(" = ")
        angles = head.endswith(" (angles)")
        result[raw] = Channel(name or raw, dims, units, about, frame, body, angles)
    return result


CHANNELS = _channels(_TABLE)


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
