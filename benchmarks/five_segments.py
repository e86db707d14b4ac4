"""An attenuator of five cylinders with universal joints, 30 x 30 radiation, in a regular wave.

Data of SEA-Stack's demo (Capytaine); joints with springs and dampers in pitch and yaw in place of
four rams each. There is no published result: the run must stay sane and keep its energy budget.
Needs the reference data.
"""

import itertools

import numpy as np
from reference import reference

import swelltree as sw

ARM2 = 2 * 1.5**2  # two rams in each plane, 1.5 m from the axis [m^2]


def attenuator(names, water: sw.Water) -> sw.System:
    bodies = [
        sw.Body(name, 270_000.0, (5.4e5, 2.943e7, 2.943e7), position=(18.0 + 36.0 * i, 0, -0.2551))
        for i, name in enumerate(names)
    ]
    pairs = list(itertools.pairwise(bodies))
    joints = [
        sw.Universal(f"joint{i + 1}", a.at(18, 0, 0), b.at(-18, 0, 0), axes=("y", "z"))
        for i, (a, b) in enumerate(pairs)
    ]
    ptos = [
        sw.LinearPto(
            f"{joint.name}_{dof.lower()}",
            joint=joint.name,
            dof=dof,
            stiffness=1e5 * ARM2,
            damping=2e6 * ARM2,
        )
        for joint in joints
        for dof in ("Pitch", "Yaw")
    ]
    mooring = sw.LinearMooring(
        "mooring",
        bodies[0],
        stiffness={"Surge": 5e4, "Sway": 5e4, "Yaw": 1e7},
        damping={"Surge": 5e4, "Sway": 5e4, "Yaw": 1e7},
    )
    return sw.System(
        "five segments",
        bodies,
        [sw.Free("nose", sw.WORLD.at(*bodies[0].position), bodies[0]), *joints],
        ptos=ptos,
        moorings=[mooring],
        water=water,
    )


def attenuator_data():
    """Hydrodynamic data and water."""
    places = {f"segment_{i + 1}": (18.0 + 36.0 * i, 0.0, -0.2551) for i in range(5)}
    data = sw.read_hydro(reference("bem_5sa", "5sa_capytaine.nc"), rotation_center=places)
    return data, sw.Water(rho=float(data["rho"]), depth=float(data["water_depth"]))


def main() -> None:
    data, water = attenuator_data()
    names = [str(name) for name in data["body"].values]
    model = sw.compile(attenuator(names, water), data, fit={"error": 0.06})
    print(" ".join(model.report))
    wave = sw.RegularWave(height=2.0, period=10.0, ramp=20.0)
    run = sw.simulate(model, wave, duration=120.0, output_step=0.1)
    late = run.isel(time=slice(800, None))
    power = late["absorbed_power"].mean("time")
    pitch = late["joint_coordinate"]
    for joint in ("joint1", "joint2", "joint3", "joint4"):
        angle = np.degrees(float(np.ptp(pitch.sel(coordinate=f"{joint}__Pitch").values))) / 2
        print(f"{joint}: {angle:.2f} deg, {float(power.sel(pto=f'{joint}_pitch')) / 1e3:.1f} kW")
    share = float(abs(run["energy_residual"]).max()) / float(abs(run["work"]).max())
    print(f"energy residual {share:.1e} of the largest work")
    assert float(power.min()) > -1.0
    assert float(power.sum()) > 1e3
    assert float(abs(run["position"].sel(dof="Heave")).max()) < 2.0
    assert share < 1e-4


if __name__ == "__main__":
    main()
