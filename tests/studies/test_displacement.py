"""Motion from the equilibrium in heading axes: one meaning in every study, for a general pose."""

import numpy as np
import pytest

import swelltree as sw
from made_hydro import MASS, vessel
from swelltree.hydro.data.frames import turn
from swelltree.spatial.rotations import euler_to_matrix

YAW = np.radians(50.0)
OMEGA = 0.9
PERIOD = 2.0 * np.pi / OMEGA
BOW = np.radians(15.0)  # between the wave and the bow
TURNS = ["Roll", "Pitch", "Yaw"]


def barge(heel=2.4e5, trim=0.0, yaw=YAW):
    """Yawed by 50 degrees; a steady moment about its own axes heels and trims it."""
    R = euler_to_matrix(np.array([0.0, 0.0, yaw]))
    hull = sw.Body("barge", MASS, (1e6, 8e6, 8e6), rotation=R, position=(30.0, -20.0, 0.0))
    torque = tuple(R @ [heel, trim, 0.0])
    held = {"Surge": 2e5, "Sway": 2e5, "Yaw": 4e7}
    eased = {"Surge": 4e4, "Sway": 4e4, "Yaw": 4e6}
    system = sw.System(
        "barge",
        [hull],
        [sw.Free("free", sw.WORLD, hull)],
        moorings=[sw.LinearMooring("mooring", hull, stiffness=held, damping=eased)],
        forces=[sw.AppliedForce("tip", hull.at(), torque=torque)],
        water=sw.Water(rho=1000.0),
    )
    return sw.compile(system, data_there(yaw), fit={"error": 0.02})


def data_there(yaw):
    """Data of the vessel where the barge is."""
    data = turn(vessel("barge"), yaw)
    data = data.assign(rotation_center=(("body", "xyz"), [[30.0, -20.0, 0.0]]))
    data = data.assign(center_of_mass=(("body", "xyz"), [[30.0, -20.0, 0.0]]))
    buoyancy = data.center_of_buoyancy.values + [30.0, -20.0, 0.0]
    return data.assign(center_of_buoyancy=(("body", "xyz"), buoyancy))


@pytest.fixture(scope="module")
def heeled():
    return barge()


def wave(yaw=YAW, amplitude=0.1):
    return sw.RegularWave(amplitude=amplitude, omega=OMEGA, beta=yaw + BOW, ramp=10.0)


@pytest.fixture(scope="module")
def run(heeled):
    times = np.arange(40 * 32 + 1) * PERIOD / 32
    return sw.simulate(heeled, wave(), times=times, start="equilibrium", rtol=1e-8)


def late(values):
    """Standard deviation over the last ten periods."""
    return values.isel(time=slice(-10 * 32, None)).std("time")


def test_response_and_simulate_have_one_roll_of_a_yawed_and_heeled_barge(heeled, run):
    rest = sw.equilibrium(heeled)
    assert np.degrees(rest.position.sel(body="barge", dof="Roll")) > 3.0
    found = sw.response(heeled, wave(), radiation="state_space")
    # motions of a tenth of a metre: what is not linear is of second order
    assert late(run.displacement).values == pytest.approx(
        found.standard_deviation.values, rel=3e-3, abs=1e-6
    )
    assert late(run.velocity).values == pytest.approx(
        found.velocity_deviation.values, rel=3e-3, abs=1e-6
    )
    # Euler angles of the body are the same where it is not trimmed
    turned = late(run.position).sel(dof=TURNS)
    assert turned.values == pytest.approx(
        found.standard_deviation.sel(dof=TURNS).values, rel=5e-3, abs=1e-6
    )
    assert "heading axes" in found.standard_deviation.frame
    assert "heading axes" in run.displacement.frame
    assert found.heading.values == pytest.approx(rest.position.sel(dof="Yaw").values)


def test_a_yawed_barge_in_a_yawed_sea_moves_as_the_straight_one():
    """In rao, response, modes and state_space; before, roll and pitch were about world axes."""
    there, here = barge(heel=1e5, trim=4e5), barge(heel=1e5, trim=4e5, yaw=0.0)
    raos = [
        sw.rao(model, omega=[OMEGA], wave_direction=[yaw + BOW]).rao.values[0, 0, 0]
        for model, yaw in ((there, YAW), (here, 0.0))
    ]
    # the place turns too, and splines through the data carry the phase of the place
    assert np.abs(raos[0]) == pytest.approx(np.abs(raos[1]), rel=1e-4)
    assert np.abs(raos[0]).min() > 1e-4
    deviations = [
        sw.response(model, wave(yaw)).standard_deviation.values
        for model, yaw in ((there, YAW), (here, 0.0))
    ]
    assert deviations[0] == pytest.approx(deviations[1], rel=1e-4)
    shapes = [sw.modes(model) for model in (there, here)]
    for name in ("shape_real", "energy_share"):
        assert shapes[0][name].values == pytest.approx(shapes[1][name].values, abs=1e-6)
    outputs = ["barge.Surge", "barge.Roll", "barge.Pitch.rate"]
    systems = [sw.state_space(model, "barge.Heave", outputs) for model in (there, here)]
    answers = [system(1j * OMEGA) for system in systems]
    assert answers[0] == pytest.approx(answers[1], rel=1e-6)


def test_displacement_of_a_trimmed_body_is_that_of_linear_studies():
    """Euler angles less those at rest are not: yaw comes with roll where there is trim."""
    model = barge(heel=1e5, trim=6e6)
    rest = sw.equilibrium(model)
    assert np.degrees(rest.position.values[0, 4]) > 5.0
    times = np.arange(40 * 32 + 1) * PERIOD / 32
    run = sw.simulate(model, wave(amplitude=0.05), times=times, start="equilibrium", rtol=1e-8)
    found = sw.response(model, wave(amplitude=0.05), radiation="state_space")
    assert late(run.displacement).values == pytest.approx(
        found.standard_deviation.values, rel=5e-3, abs=1e-6
    )


def test_displacement_counts_from_the_equilibrium_where_a_run_begins_there(heeled, run):
    assert run.displacement.values[0] == pytest.approx(np.zeros((1, 6)), abs=1e-12)
    assert run.displacement.measured_from == run.datum.source == "the equilibrium in still water"
    assert run.datum.values == pytest.approx(sw.equilibrium(heeled).position.values, abs=1e-9)
    described = sw.simulate(heeled, duration=1.0, output_step=0.5)
    assert described.displacement.measured_from == "the described pose"
    assert described.datum.values[0] == pytest.approx([30.0, -20.0, 0.0, 0.0, 0.0, YAW])
    assert described.displacement.values[0] == pytest.approx(np.zeros((1, 6)), abs=1e-12)


def test_a_run_that_goes_on_keeps_its_datum(heeled, run):
    more = sw.simulate(heeled, wave(), duration=2.0, output_step=0.5, start=run, rtol=1e-8)
    assert more.datum.values == pytest.approx(run.datum.values, abs=1e-12)
    assert more.displacement.measured_from == run.displacement.measured_from
    gone = more.displacement.values[0] - run.displacement.values[-1]
    assert np.abs(gone).max() < 0.05  # one sample later at most


def test_a_body_and_direction_is_the_displacement_in_stepper_and_state_space(heeled):
    stepped = sw.stepper(heeled, start="equilibrium")
    assert stepped["barge.Heave"] == pytest.approx(0.0, abs=1e-12)
    stepped.step(0.5)
    assert stepped["barge.Roll"] == stepped["displacement.barge.Roll"]
    assert stepped["position.barge.Surge"] == pytest.approx(30.0, abs=0.1)
    result = stepped.result()
    assert result.displacement.measured_from == "the equilibrium in still water"
    assert result.displacement.values[-1, 0, 3] == stepped["barge.Roll"]


def test_displacements_of_a_batch_are_those_of_its_runs(heeled):
    seas = [wave(), wave(amplitude=0.2)]
    how = {"duration": 4.0, "output_step": 0.2, "step": 0.05, "start": "equilibrium"}
    batch = sw.simulate_batch(heeled, seas, reduce=["series"], **how)
    single = sw.simulate(heeled, seas[1], solver="rk4", **how)
    assert batch.displacement_series.values[1] == pytest.approx(
        single.displacement.values, rel=1e-9, abs=1e-12
    )


def test_plots_and_tables_show_displacements(run):
    import matplotlib.pyplot as plt

    from swelltree.results.tables import extremes

    figure = sw.plot.timeseries(run, body="barge", dof="Heave")
    (line,) = figure.axes[0].lines
    assert np.ptp(line.get_ydata()) > 0.0
    assert line.get_ydata() == pytest.approx(run.displacement.values[:, 0, 2])
    plt.close(figure)
    (_, ranges) = extremes(run)[0]
    assert max(abs(x) for pair in ranges[:3] for x in pair) < 1.0  # not 30 m away


def test_a_controller_measures_displacements_in_heading_axes(heeled):
    """Of a barge 36 m from the origin, yawed by 50 degrees; positions were taken for motions."""
    system = heeled.described.system
    (hull,) = system.bodies
    dofs = ("Surge", "Sway", "Heave", "Roll", "Pitch", "Yaw")
    measures = [f"barge.{dof}{end}" for end in ("", ".rate") for dof in dofs]
    rams = [sw.SpringDamper(f"ram{k}", sw.WORLD.at(0, 0, 50 + k), hull) for k in range(12)]
    law = sw.Controller("law", measures, [ram.name for ram in rams], law=lambda t, y: y)
    measuring = system.replace(forces=(*system.forces, *rams), controllers=(law,))
    model = sw.compile(measuring, data_there(YAW), radiation="none")
    run = sw.simulate(model, wave(), duration=6.0, output_step=0.5)
    moved, seen = run.displacement.values[:, 0], run.spring_control.values
    assert np.abs(moved[-1]).min() > 1e-6
    assert seen[:, :6] == pytest.approx(moved, abs=1e-12)
    along = run.velocity.values[:, 0].reshape(-1, 2, 3) @ about_z(YAW)
    assert seen[:, 6:] == pytest.approx(along.reshape(-1, 6), abs=1e-12)
    # the law is the same wherever a run begins
    late = sw.simulate(model, duration=1.0, start="equilibrium")
    later, rest = late.spring_control.values[0], late.datum.values[0]
    assert later[2] == pytest.approx(rest[2], abs=1e-9)
    assert later[3] == pytest.approx(rest[3], abs=1e-9)
    assert later[3] > np.radians(3.0)


def about_z(angle):
    return euler_to_matrix(np.array([0.0, 0.0, angle]))


def test_harmonics_of_a_steady_state_are_those_of_linear_studies(heeled):
    """Of the yawed and heeled barge; roll and pitch were about world axes."""
    found = sw.steady_state(heeled, wave(), harmonics=2).position_harmonics
    small = sw.rao(heeled, omega=[OMEGA], wave_direction=[YAW + BOW], radiation="state_space").rao
    expected = 0.1 * small.values[0, 0]
    assert found.values[1] == pytest.approx(expected, rel=5e-3, abs=1e-6)
    assert "heading axes" in found.frame
