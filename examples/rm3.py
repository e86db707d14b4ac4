"""The point absorber RM3: a float that slides on a spar, with a damper between them.

WAMIT data; WEC-Sim's regular wave (heave only, the bodies do not feel each other's waves), then
the decay with coupling. Needs the reference data.
"""

import numpy as np
from reference import reference

import swelltree as sw

MASSES = (725_834.0, 886_691.0)  # as stated [kg]


def main() -> None:
    data = sw.read_hydro(
        reference("bem_rm3", "wamit", "rm3.out"), names=["float", "spar"], rho=1000.0
    )
    omega = 2 * np.pi / 8.0
    wave = sw.RegularWave(height=2.5, period=8.0, ramp=100.0)
    model = sw.compile(
        sw.gallery.rm3(1.2e6, masses=MASSES).bare,
        data,
        coupling=False,
        radiation="constant",
        omega=omega,
    )
    run = sw.simulate(model, wave, duration=200.0, output_step=0.1)
    late = run["displacement"].sel(dof="Heave").isel(time=slice(1200, None))
    size = 0.5 * (late.max("time") - late.min("time"))
    power = float(run["absorbed_power"].isel(time=slice(1200, None)).mean())
    print(f"float {float(size.sel(body='float')):.4f} m, spar {float(size.sel(body='spar')):.4f} m")
    print(f"mean power {power / 1e3:.1f} kW")
    # WEC-Sim: 0.9810 and 0.12532 m
    assert abs(float(size.sel(body="float")) / 0.9810 - 1) < 0.01
    assert abs(float(size.sel(body="spar")) / 0.12532 - 1) < 0.02

    # decay with coupling
    for code, file in (
        ("SEA-Stack", "ss_ref_rm3_decay.txt"),
        ("WEC-Sim", "rm3_WECSim_decay.txt"),
    ):
        table = np.loadtxt(reference("ts_rm3_decay", file), skiprows=1)
        table = table[(table[:, 0] <= 40.0) & (table[:, 0] > 0.0)]
        released = sw.gallery.rm3(0.0, start=(0.1, 0.0), masses=MASSES).bare
        still = sw.compile(released, data, fit={"error": 0.01})
        decay = sw.simulate(still, times=table[:, 0])["position"].sel(dof="Heave")
        gaps = {}
        for body, column in (("float", 1), ("spar", 2)):
            away = np.abs(decay.sel(body=body).values - table[:, column]).max()
            gaps[body] = away / np.ptp(table[:, column])
        print(f"decay, {code}: float {gaps['float']:.2%}, spar {gaps['spar']:.2%} of the range")
        assert gaps["float"] < 0.01
        assert gaps["spar"] < 0.03


if __name__ == "__main__":
    main()
