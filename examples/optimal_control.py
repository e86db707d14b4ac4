"""Three hinged barges: the maximum power of the power take-offs on the hinges in a wave.

Hydrodynamic data come with the package. The best dampers, the optimum within limits of moment and
angle, and the optimum without limits are compared in one regular wave.
"""

import swelltree as sw

WAVE = sw.RegularWave(height=2.0, period=9.0)
MOMENT, ANGLE = 4.0e7, 0.06  # N m, rad


def main() -> None:
    model = sw.gallery.barges().model(radiation="none")
    best = sw.optimal_control(
        model, WAVE, ["pto1", "pto2"], force_max=MOMENT, stroke_max=ANGLE, method="linear"
    )
    numbers = best.attrs
    print(f"best dampers {numbers['passive_power'] / 1e3:.1f} kW")
    print(f"within {MOMENT:.2g} N m and {ANGLE} rad {numbers['mean_power'] / 1e3:.1f} kW")
    print(f"linearised, without limits {numbers['linear_bound'] / 1e3:.1f} kW")
    print(f"KKT residual {numbers['kkt_residual']:.1e}, limits exceeded by {numbers['leak']:.1e}")
    assert numbers["passive_power"] < numbers["mean_power"] < numbers["linear_bound"]
    assert float(abs(best.force).max()) < 1.001 * MOMENT
    assert float(abs(best.stroke).max()) < 1.001 * ANGLE
    assert numbers["kkt_residual"] < 1e-8


if __name__ == "__main__":
    main()
