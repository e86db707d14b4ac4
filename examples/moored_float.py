"""A moored float in ten lines: hull, three mooring lines and a sea give motions and tensions."""

import swelltree as sw


def main() -> None:
    # --- the ten lines
    hull = sw.Cylinder(radius=4.0, draft=3.0, height=5.0)
    buoy = sw.Body("buoy", hull=hull, com=(0, 0, -1.8), reference_point=(0, 0, 0))
    feet = [(200, 0), (-100, 173), (-100, -173)]
    ends = [((x, y, -50), buoy.at(x / 50, y / 50, -1)) for x, y in feet]
    lines = [
        sw.Line(f"line{i}", *e, 209, sw.chain(0.05), "quasi_static") for i, e in enumerate(ends)
    ]
    drag = sw.QuadraticDrag("drag", buoy, damping={"Heave": 3e4, "Roll": 4e6, "Pitch": 4e6})
    joint, water = sw.Free("float", sw.WORLD, buoy), sw.Water(depth=50)
    system = sw.System("moored float", [buoy], [joint], [drag], lines=lines, water=water)
    model = sw.compile(system, sw.run_bem(system, [0.1 * i for i in range(2, 36, 2)]))
    run = sw.simulate(model, sw.IrregularSea(sw.Jonswap(Hs=2, Tp=8), ramp=20), duration=300)
    # ---
    heave, tension = run["displacement"].sel(body="buoy", dof="Heave"), run["fairlead_tension"]
    print(
        f"heave {float(heave.std()):.3f} m rms, tension {float(tension.min()) / 1e3:.1f} to "
        f"{float(tension.max()) / 1e3:.1f} kN"
    )
    # long waves for this float: it follows the surface, whose rms is Hs / 4
    assert 0.4 < float(heave.std()) < 0.65
    assert float(tension.min()) > 0.0
    assert float(abs(run["energy_residual"]).max()) < 1e-3 * float(abs(run["work"]).max())


if __name__ == "__main__":
    main()
