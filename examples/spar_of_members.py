"""A spar without a mesh: one slender member, a current, wind and a sea.

Morison's equation gives inertia and drag, the member its buoyancy. The same model is used in the
time domain and, with drag linearised for the sea, in the frequency domain.
"""

import numpy as np

import swelltree as sw

DRAFT, DIAMETER = 60.0, 6.0


def spar(current: float = 0.6, wind: float = 12.0) -> sw.System:
    """A moored spar, its weight that of the water it displaces."""
    mass = 1025.0 * np.pi / 4 * DIAMETER**2 * DRAFT
    body = sw.Body(
        "spar",
        mass=mass,
        inertia=(mass * 20.0**2, mass * 20.0**2, mass * 2.5**2),
        com=(0, 0, -38),
        reference_point=(0, 0, 0),
    )
    hull = sw.MorisonMember(
        "hull",
        body.at(0, 0, -DRAFT),
        body.at(0, 0, 10),
        diameter=DIAMETER,
        Cd=0.8,
        Ca=1.0,
        end_Cd=1.2,
        end_Ca=1.0,
        strips=35,
        buoyancy=True,
    )
    tower = sw.WindDrag(
        "tower", body.at(0, 0, 20), angle_deg=(0, 180), CX=(0.9, -0.9), front_area=120.0
    )
    mooring = sw.LinearMooring(
        "mooring",
        body,
        stiffness={"Surge": 4e4, "Sway": 4e4, "Yaw": 5e7},
        damping={"Surge": 8e4, "Sway": 8e4, "Heave": 1e5, "Yaw": 1e7},
    )
    return sw.System(
        "spar",
        [body],
        [sw.Free("float", sw.WORLD, body)],
        [hull, tower],
        moorings=[mooring],
        current=sw.PowerLawCurrent(current, depth=100.0),
        wind=sw.Wind(wind),
    )


def main() -> None:
    model = sw.compile(spar())
    rest = sw.equilibrium(model)
    surge, pitch = float(rest.position[0, 0]), float(np.degrees(rest.position[0, 4]))
    print(f"offset {surge:.2f} m, tilt {pitch:.2f} degrees in current and wind")

    sea = sw.IrregularSea(sw.Jonswap(Hs=4.0, Tp=10.0), seed=2, components=80, ramp=30)
    linear = sw.response(model, sea, drag="stochastic").standard_deviation.sel(body="spar")
    run = sw.simulate(model, sea, duration=900, output_step=0.5)
    late = run.position.sel(body="spar").isel(time=slice(400, None)).std("time")
    for dof in ("Surge", "Pitch"):
        ratio = float(linear.sel(dof=dof) / late.sel(dof=dof))
        print(f"{dof} {float(late.sel(dof=dof)):.4f} rms; linearised {100 * (ratio - 1):+.1f} %")
        assert abs(ratio - 1) < 0.1
    balance = float(abs(run.energy_residual).max() / abs(run.work).max())
    print(f"energy residual: {balance:.1e} of the largest work")

    # drag of current and wind over the stiffness of the mooring, with a small tilt
    depth = DRAFT * (np.arange(1000) + 0.5) / 1000
    drag = 0.5 * 1025 * 0.8 * DIAMETER * DRAFT * (0.36 * (1 - depth / 100) ** (2 / 7)).mean()
    push = 0.5 * 1.225 * 0.9 * 120 * (12 * 2**0.12) ** 2
    assert abs(surge / ((drag + push) / 4e4) - 1) < 0.03
    assert balance < 1e-4


if __name__ == "__main__":
    main()
