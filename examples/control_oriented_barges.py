"""Two hinged barges for control: a small linear model, and wave forces estimated from sensors.

The barges of Ó Catháin et al. (2006) without the damping plate, on a pivot. The model is exported
to python-control, reduced, and used in a Kalman filter that estimates the wave moments on both
hinges from noisy angles and rates, in an irregular sea.
"""

import numpy as np

import swelltree as sw

STEP = 0.02  # s
NOISE = 0.01  # of the rms of every signal
JOINTS = ["pivot__Pitch", "hinge__Pitch"]


def sea(seed: int) -> sw.IrregularSea:
    return sw.IrregularSea(sw.Jonswap(Hs=0.04, Tp=1.8), seed=seed, omega_max=11.0)


def main() -> None:
    model = sw.gallery.tank().model(fit={"error": 0.04})

    # the plant that a controller sees: ram in, stroke and speed out, the sea as a disturbance
    plant = sw.state_space(model, ["ram", "excitation"], ["ram.stroke", "ram.stroke.rate"])
    print(sw.control_report(plant))
    small = sw.state_space(
        model, ["ram", "excitation"], ["ram.stroke", "ram.stroke.rate"], error=0.02, step=STEP
    )
    print(*small.notes, sep="\n")
    assert small.nstates < plant.nstates / 2

    # what sensors on the hinges would measure
    times = STEP * np.arange(3001)
    run = sw.simulate(model, sea(5), times=times, progress=False)
    motion = [run[key].sel(coordinate=JOINTS) for key in ("joint_coordinate", "joint_rate")]
    measured = np.concatenate([x.values for x in motion], axis=1)
    noise = NOISE * measured.std(axis=0)
    measured += noise * np.random.default_rng(7).standard_normal(measured.shape)

    # the filter knows the spectrum of the sea, not its phases
    observer = sw.excitation_observer(
        model,
        ["pivot.Pitch", "hinge.Pitch", "pivot.Pitch.rate", "hinge.Pitch.rate"],
        noise=noise,
        step=STEP,
        sea=sea(1),
    )
    reported = observer.estimate(measured)
    true = observer.excitations_from(run.excitation_force.sel(body=list(model.layout.bodies)))
    late = times > 10.0
    error = np.sqrt(((reported.values - true)[late] ** 2).mean(0) / (true[late] ** 2).mean(0))
    print(f"excitation on pivot and hinge: rms error {100 * error.round(4)} % of the rms")
    assert error.max() < 0.1


if __name__ == "__main__":
    main()
