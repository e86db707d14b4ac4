"""A moored float in ten lines: hull, three springs, a sea; motions and tensions come out."""

import math

import swelltree as sw


def main() -> None:
    # --- the ten lines
    hull = sw.Cylinder(radius=4.0, draft=3.0, height=5.0)
    buoy = sw.Body("buoy", hull=hull, com=(0, 0, -1.8), reference_point=(0, 0, 0))
    lines = [
        sw.SpringDamper(
            f"line{i}",
            sw.WORLD.at(60 * math.cos(a), 60 * math.sin(a), -30),
            buoy.at(4 * math.cos(a), 4 * math.sin(a), -1),
            stiffness=5e3,
            damping=2e3,
            rest_length=58.0,
        )
        for i, a in enumerate((0.0, 2.0944, 4.1888))
    ]
    drag = sw.QuadraticDrag("drag", buoy, damping={"Heave": 3e4, "Roll": 4e6, "Pitch": 4e6})
    system = sw.System("moored float", [buoy], [sw.Free("float", sw.WORLD, buoy)], [*lines, drag])
    model = sw.compile(system, sw.run_bem(system, [0.1 * i for i in range(2, 36, 2)]))
    run = sw.simulate(
        model, sw.IrregularSea(sw.Jonswap(Hs=2.0, Tp=8.0), seed=1, ramp=20), duration=300
    )
    # ---
    heave = run["position"].sel(body="buoy", dof="Heave")
    tension = run["spring_tension"]
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
