"""A flap that drives a flywheel through a gear, with a brake on the fast shaft.

The brake holds the shaft below 50 N m, which is 500 N m at the flap. Each half swing is shorter by
2 x 500 / 80000 = 0.0125 rad. After sixteen of them, at 0.003 rad, the spring can no longer overcome
the brake. The dissipated energy is heat.
"""

import swelltree as sw

RATIO = 10.0


def system() -> sw.System:
    flap = sw.Body("flap", 2e3, (4e3, 5e3, 2e3))
    wheel = sw.Body("wheel", 50.0, (3.0, 5.0, 3.0), position=(0.0, 1.0, 0.0))
    return sw.System(
        "geared flap",
        bodies=[flap, wheel],
        joints=[
            sw.Hinge("hinge", sw.WORLD, flap, axis="y", position=0.203),
            sw.Hinge("shaft", sw.WORLD.at(0, 1, 0), wheel, axis="y"),
        ],
        forces=[
            sw.JointForce("spring", "hinge", stiffness=8e4),
            sw.JointForce("brake", "shaft", friction=50.0, stick=True),
        ],
        couplings=[sw.Coupling("gear", {"hinge": RATIO, "shaft": 1.0}, constant=0.0)],
    )


def main() -> float:
    run = sw.simulate(sw.compile(system()), duration=20.0, output_step=0.1)
    angle = float(run.joint_coordinate.sel(coordinate="hinge__Pitch").values[-1])
    heat = -float(run.work.sel(element="brake").values[-1])
    assert abs(angle - 0.003) < 1e-6
    assert abs(heat - 0.5 * 8e4 * (0.203**2 - 0.003**2)) < 0.01
    print(f"the flap stops at {angle:.5f} rad; {heat:.1f} J of heat")
    return angle


if __name__ == "__main__":
    main()
