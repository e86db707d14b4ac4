"""A hinged barge in a tank: two boxes, a deep damping plate, a ram between them.

Paparella et al. (2015), Table I, and the pivoted form of Ó Catháin et al. (2006). Barge 1 carries
the plate and may heave and pitch (3-DOF form) or only pitch about its waterline (2-DOF form);
barge 2 is connected to it by a hinge at the waterline. The plate has the mass of the water it
displaces: it changes the hydrodynamics, not the statics.
"""

import numpy as np

import swelltree as sw
from swelltree.gallery.hinge_barge import TESTED, viscous_losses


def main() -> None:
    data = sw.gallery.hinge_barge().hydro
    three = sw.gallery.hinge_barge(viscous_losses(data)).system
    pivot = sw.Hinge("root", sw.WORLD, three.bodies[0])
    forms = {"3-DoF": three, "2-DoF": three.replace(joints=(pivot, three.joints[1]))}
    heave = {}
    for form, system in forms.items():
        linear = sw.rao(sw.compile(system, data, radiation="none"), omega=TESTED)
        heave[form] = np.abs(linear["rao"].sel(body="barge2", dof="Heave").squeeze().values)
        power = 0.06**2 * linear["absorbed_power"].squeeze().values
        print(f"{form}: heave of barge 2 [m/m] {heave[form].round(3)}")
        print(f"       ram [W] in waves of 60 mm amplitude {power.round(2)}")
    first, sixth = heave["3-DoF"][0], heave["3-DoF"][6]
    print(f"3-DOF: {first:.3f} at 2.61 and {sixth:.3f} m/m at {TESTED[6]:.2f} rad/s")
    assert abs(first / 0.69 - 1) < 0.06
    assert abs(sixth - 0.08) < 0.02


if __name__ == "__main__":
    main()
