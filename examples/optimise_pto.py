"""Damping and spring of the RM3's PTO for three sea states, with a limit on its stroke.

Run: python examples/optimise_pto.py
"""

import swelltree as sw


def climate() -> tuple[list[sw.IrregularSea], list[float]]:
    """Sea states and the hours of the year that they last."""
    states = [(1.5, 7.0, 3000.0), (2.5, 8.0, 2500.0), (3.5, 9.5, 1200.0)]
    seas = [
        sw.IrregularSea(sw.Jonswap(Hs=Hs, Tp=Tp), seed=1, omega_max=2.2, ramp=30.0)
        for Hs, Tp, _ in states
    ]
    return seas, [hours for _, _, hours in states]


def main() -> None:
    """Search, print what was found, and check one number."""
    seas, hours = climate()
    found = sw.optimise(
        sw.gallery.rm3().model(),
        seas,
        sw.mean_of("absorbed_power"),
        {"ptos.pto.damping": (1e5, 6e6), "ptos.pto.stiffness": (0.0, 1e6)},
        constraints=[(sw.smooth_max_of("pto_stroke", pto="pto"), None, 0.7)],
        maximise=True,
        weights=hours,
        duration=150.0,
        output_step=0.25,
    )
    for name in found.parameter.values:
        row = found.sel(parameter=name)
        print(f"{name}: {float(row.start):.3g} to {float(row.optimum):.3g} {row.unit.item()}")
    gain = float(found.history[-1] / found.history[0])
    print(f"power {float(found.objective) / 1e3:.1f} kW, {gain:.3f} times that of the start")
    print(f"stroke: {found.constraint_value.values.round(2).tolist()} m, of 0.7 m")
    print(f"{found.attrs['evaluations']} evaluations, {found.attrs['simulated_seconds']:.0f} s")
    # the limit of the stroke in the highest sea decides the damping
    assert abs(float(found.optimum.sel(parameter="ptos.pto.damping")) / 4.37e6 - 1.0) < 0.01
    assert bool(found.active.values[0, -1])


if __name__ == "__main__":
    main()
