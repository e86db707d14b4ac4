"""Systems with many kinds of elements in general position, for tests over all their numbers."""

import swelltree as sw


def floating(water=None):
    """Dry bodies, a hinge with brake and PTO, drag, a Morison member, a quasi-static line, wind."""
    float_ = sw.Body(
        "float",
        mass=4e4,
        inertia=(3e4, 4e4, 5e4),
        com=(0.1, 0.2, -0.3),
        position=(0.2, 0.1, 0.4),
        displaced_volume=21.0,
        center_of_buoyancy=(0.0, 0.1, 0.3),
        added_mass={"Surge": 900.0, "Heave": 1500.0},
    )
    arm = sw.Body(
        "arm",
        mass=300.0,
        inertia=(20.0, 30.0, 40.0),
        position=(3.2, 0.1, 0.9),
        rotation_deg=(0.0, 12.0, 0.0),
    )
    rope = sw.LineType("rope", diameter=0.08, mass_per_length=21.0, EA=3e6, Cdn=0.0)
    stops = {"lower": -0.9, "upper": 0.8, "stop_stiffness": 1e4, "stop_damping": 10.0}
    return sw.System(
        "rich",
        [float_, arm],
        [
            sw.Free("free", sw.WORLD, float_),
            sw.Hinge("hinge", float_.at(2.0, 0.0, 0.5), arm.at(-1.0, 0.0, 0.0), position=0.2),
        ],
        forces=[
            sw.SpringDamper("spring", float_, arm, stiffness=2e3, damping=30.0, rest_length=2.5),
            sw.JointForce("brake", "hinge", stiffness=400.0, damping=50.0, friction=3.0, **stops),
            sw.AppliedForce("push", arm.at(0.3, 0.1, 0.2), force=(3.0, 4.0, 50.0)),
            sw.QuadraticDrag("drag", float_, damping={"Heave": 900.0, "Pitch": 70.0}),
            sw.BodyDrag(
                "plate", float_.at(0.1, 0.2, 0.3), area=(2.0, 3.0, 4.0), Cd=(1.0, 1.1, 1.2)
            ),
            sw.WindDrag("windage", float_, angle_deg=(0.0, 180.0), CX=(-0.8, 0.7), front_area=4.0),
            sw.MorisonMember(
                "leg", float_.at(0, 0, 1), float_.at(0.2, 0.1, -4), diameter=0.7, Cd=1.1, Ca=0.9
            ),
        ],
        ptos=[sw.LinearPto("pto", joint="hinge", damping=2e3, stiffness=60.0, efficiency=0.9)],
        moorings=[
            sw.LinearMooring("soft", float_, stiffness={"Surge": 900.0, "Sway": 800.0, "Yaw": 50.0})
        ],
        lines=[
            sw.Line(
                "bow",
                (-90.0, 20.0, -31.0),
                float_.at(-1, 0, 0),
                101.0,
                "rope",
                model="quasi_static",
            )
        ],
        line_types=[rope],
        water=water or sw.Water(rho=1019.0, g=9.79, depth=31.0),
        current=sw.UniformCurrent(speed=0.4, beta=0.3),
        wind=sw.Wind(speed=9.0, beta=0.7),
    )


def lifting():
    """Dynamic lines with a winch, a junction, a contact, a hydraulic PTO."""
    hook = sw.Body("hook", mass=2e3, inertia=(900.0, 800.0, 700.0), position=(0.1, 0.2, -9.0))
    buoy = sw.Body(
        "buoy",
        mass=5e3,
        inertia=(4e3, 5e3, 6e3),
        position=(8.0, 0.3, -0.2),
        displaced_volume=5.1,
        center_of_buoyancy=(0.0, 0.0, 0.4),
    )
    wire = sw.LineType("wire", diameter=0.05, mass_per_length=9.0, EA=4e7, BA=3e5, Cdt=0.05)
    return sw.System(
        "lift",
        [hook, buoy],
        [sw.Free("hook_free", sw.WORLD, hook), sw.Slider("rail", sw.WORLD, buoy, axis="z")],
        ptos=[
            sw.HydraulicPto("ram", joint="rail", piston_area=0.01, precharge=5e6, gas_volume=0.3)
        ],
        lines=[
            sw.Line("hoist", (0.1, 0.2, 12.0), hook.at(0, 0, 0.5), 20.5, "wire", segments=4),
            sw.Line("tag", buoy.at(-0.5, 0, 0), hook.at(0.2, 0, 0), 14.0, "wire", segments=3),
        ],
        line_types=[wire],
        winches=[
            sw.Winch("winch", "hoist", speed=0.2, max_speed=0.5, time_constant=0.4, drum=60.0)
        ],
        contacts=[sw.SeabedContact("touch", hook, at=[(0.1, 0.0, -0.5)])],
        seabed=sw.Seabed(stiffness=3e4, damping=0.2, friction=0.3),
        water=sw.Water(depth=40.0),
        current=sw.PowerLawCurrent(speed=0.5, beta=0.4),
    )


def hanging():
    """Cables of rigid elements between bodies, a Coulomb PTO with a force limit."""
    top = sw.Body("top", mass=900.0, inertia=(50.0, 60.0, 70.0), position=(0.0, 0.1, 2.0))
    low = sw.Body("low", mass=400.0, inertia=(30.0, 28.0, 26.0), position=(1.0, 0.2, -8.0))
    rope = sw.LineType("rope", diameter=0.06, mass_per_length=7.0, EA=2e6, BA=4e4)
    return sw.System(
        "hang",
        [top, low],
        [
            sw.Slider("rail", sw.WORLD, top, axis="z", position=0.1),
            sw.Free("low_free", sw.WORLD, low),
        ],
        ptos=[
            sw.CoulombPto(
                "grip", joint="rail", friction=500.0, damping=30.0, stiffness=2e4, force_limit=9e3
            )
        ],
        lines=[
            sw.Line(
                "cable",
                top.at(0, 0, -0.4),
                low.at(0.1, 0, 0.4),
                9.9,
                "rope",
                model="multibody",
                segments=3,
            )
        ],
        line_types=[rope],
        water=sw.Water(depth=60.0),
        wind=sw.Wind(speed=9.0, beta=0.7),
    )
