"""A hinged barge in a tank: two boxes, a deep damping plate, a ram between them.

Paparella et al. (2015), Table I, and the pivoted form of Ó Catháin et al. (2006). Barge 1 carries
the plate and may heave and pitch (3-DoF form) or only pitch about its waterline (2-DoF form);
barge 2 hangs on it by a hinge on the waterline. The plate is as heavy as the water it displaces:
it takes part in the hydrodynamics, not in the statics.
"""

import numpy as np

import swelltree as sw

OMEGA = np.linspace(2.61, 7.85, 14)  # rad/s
BOX1 = sw.Box(1.1, 0.67, 0.57, 0.37, panel_size=0.11)
BOX2 = sw.Box(2.5, 0.64, 0.12, 0.08, panel_size=0.13)
PLATE = sw.Plate(2.2, 1.34, 0.03, depth=1.47, panel_size=0.15)
AT2 = 0.78 + 1.48  # where barge 2 is [m]


def tank(form: str = "3-DoF", plate: bool = False, damping: dict | None = None) -> sw.System:
    hull = sw.Union((BOX1, PLATE)) if plate else BOX1
    one = sw.Body(
        "barge1",
        272.69,
        (20.0, 34.8793, 50.0),
        com=(0, 0, -0.084),
        reference_point=(0, 0, 0),
        hull=hull,
    )
    two = sw.Body(
        "barge2",
        128.0,
        (4.5, 66.8203, 71.0),
        com=(0, 0, -0.0175),
        position=(AT2, 0, 0),
        reference_point=(0, 0, 0),
        hull=BOX2,
    )
    root = (
        sw.SubsetJoint("root", sw.WORLD, one, dofs=("Heave", "Pitch"))
        if form == "3-DoF"
        else sw.Hinge("root", sw.WORLD, one)
    )
    losses = [
        sw.LinearDamping(f"losses_{body}", body, damping=values)
        for body, values in (damping or {}).items()
    ]
    return sw.System(
        f"hinge barge, {form}",
        bodies=[one, two],
        joints=[root, sw.Hinge("hinge", one.at(0.78, 0, 0), two.at(-1.48, 0, 0))],
        ptos=[sw.LinearPto("ram", one.at(0.35, 0, 0.1), two.at(-0.55, 0, 0.1), damping=850.0)],
        moorings=[
            sw.LinearMooring("mooring", one, stiffness={"Heave": 3.5e4, "Pitch": 3.5e4}),
            *losses,
        ],
        water=sw.Water(rho=1000.0),
    )


def main() -> None:
    data = sw.run_bem(tank(plate=True), OMEGA)
    B = data["radiation_damping"].sel(omega=OMEGA).max("omega")
    losses = {
        body: {
            dof: 0.05
            * float(B.sel(influenced_dof=f"{body}__{dof}", radiating_dof=f"{body}__{dof}"))
            for dof in ("Heave", "Pitch")
        }
        for body in ("barge1", "barge2")
    }
    # statics of the boxes alone
    data = data.drop_vars(["hydrostatic_stiffness", "displaced_volume", "center_of_buoyancy"])
    found = {}
    for form in ("3-DoF", "2-DoF"):
        model = sw.compile(tank(form, damping=losses), data, radiation="none")
        linear = sw.rao(model, omega=OMEGA)
        found[form] = np.abs(linear["rao"].sel(body="barge2", dof="Heave").squeeze().values)
        power = 0.06**2 * linear["absorbed_power"].squeeze().values
        print(f"{form}: heave of barge 2 [m/m] {found[form].round(3)}")
        print(f"       ram [W] in waves of 60 mm amplitude {power.round(2)}")
    first, sixth = found["3-DoF"][0], found["3-DoF"][6]
    print(f"3-DoF: {first:.3f} at 2.61 and {sixth:.3f} m/m at {OMEGA[6]:.2f} rad/s")
    assert abs(first / 0.69 - 1) < 0.06
    assert abs(sixth - 0.08) < 0.02


if __name__ == "__main__":
    main()
