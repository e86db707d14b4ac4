"""A submerged sphere on a spring and damper to the seabed (CETO), in heave, linear.

Sphere of 3.5 m radius, centre 7 m below the surface, water depth 20 m; Wuillaume et al. (2017),
section 6.1.
"""

import math

import numpy as np

import swelltree as sw


def ceto(panel_size: float = 0.8) -> sw.System:
    volume = 4.0 / 3.0 * math.pi * 3.5**3
    ball = sw.Body(
        "ball",
        mass=1025.0 * volume,
        inertia=(8.8e5, 8.8e5, 8.8e5),
        position=(0, 0, -7),
        hull=sw.Sphere(3.5, offset=(0, 0, -7), panel_size=panel_size),
    )
    return sw.System(
        "ceto",
        bodies=[ball],
        joints=[sw.Slider("heave", sw.WORLD.at(0, 0, -7), ball, axis="z")],
        ptos=[sw.LinearPto("pto", joint="heave", stiffness=302_478.6, damping=5e4)],
        water=sw.Water(depth=20.0),
    )


def main() -> None:
    system = ceto()
    data = sw.run_bem(system, np.append(np.arange(0.4, 2.6, 0.2), 1.0))
    heave = {"influenced_dof": "ball__Heave", "radiating_dof": "ball__Heave"}
    added = data["added_mass"].sel(heave)
    at_one, at_infinity = float(added.sel(omega=1.0)), float(added.sel(omega=np.inf))
    model = sw.compile(system, data)
    linear = sw.rao(model, omega=1.0)
    response = float(np.abs(linear["rao"].sel(body="ball", dof="Heave").squeeze()))
    print(f"added mass {at_one:.4g} kg at 1 rad/s, {at_infinity:.4g} kg at infinity")
    power = 1.25**2 * float(linear["absorbed_power"].squeeze())
    print(f"heave {response:.3f} m/m; mean power {power:.4g} W in waves of 1.25 m amplitude")
    assert abs(at_one / 1.034e5 - 1) < 0.02
    assert abs(at_infinity / 8.887e4 - 1) < 0.02
    assert abs(response / 2.18 - 1) < 0.02


if __name__ == "__main__":
    main()
