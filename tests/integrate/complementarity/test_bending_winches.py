"""Pipes and umbilicals with bending stiffness on a reel."""

import numpy as np
import pytest

import swelltree as sw

EI, TIP, Z = 1e5, 50.0, -10.0


def laid(length, segments, stages=(), **law):
    """A pipe that leaves its reel level, with a weight at its free end."""
    pipe = sw.LineType("pipe", **({"diameter": 0.1, "mass_per_length": 10.0, "EA": 1e7} | law))
    end = sw.Junction("end", (length, 0, Z), mass=TIP)
    line = sw.Line("pipe", (0, 0, Z), end, length, pipe, segments=segments, clamp_A=(1, 0, 0))
    more = {} if law.get("Cdn") else {"water": sw.Water(rho=1e-9)}
    if stages:
        operations = [sw.Operation("lay", stages)]
        more |= {"winches": [sw.Winch("reel", line)], "operations": operations}
    return sw.compile(sw.System("lay", lines=[line], junctions=[end], **more))


def run(model, duration, step=0.01):
    result = sw.simulate(model, duration=duration, output_step=0.05, step=step)
    assert result.attrs["result"] == "success"
    return result


def sag(result):
    """Of the free end [m]."""
    return Z - result.line_position.values[:, 0, -1, 2]


@pytest.mark.slow
@pytest.mark.parametrize(("action", "length", "after"), [("pay_out", 3.0, 4.0), ("haul_in", 4, 3)])
def test_a_pipe_that_is_paid_out_or_hauled_in_hangs_like_one_of_its_new_length(
    action, length, after
):
    law = {"EI": EI, "BA": 1e4, "Cdn": 1.2}
    stage = sw.Stage(action, "reel", length=1.0, speed=0.25, ramp=0.5)
    moved = run(laid(length, int(2 * length), [stage], **law), 7.0)
    still = run(laid(after, int(2 * after), **law), 0.1)
    before = run(laid(length, int(2 * length), **law), 0.1)
    assert abs(int(moved.winch_segments[-1, 0]) - int(moved.winch_segments[0, 0])) == 2
    ringing = sag(moved)[-40:]
    # what the stop of the reel leaves ringing is the only difference: it is of one grid
    way = abs(sag(before)[0] - sag(still)[0])
    assert np.ptp(ringing) < 0.04 * way
    assert ringing.mean() == pytest.approx(sag(still)[0], abs=np.ptp(ringing))
    # a beam with its weight in water and a load at its end
    weight = (10.0 - 1025.0 * 0.25 * np.pi * 0.1**2) * 9.81
    beam = weight * after**4 / (8 * EI) + TIP * 9.81 * after**3 / (3 * EI)
    assert sag(still)[0] == pytest.approx(beam, rel=0.02)


@pytest.mark.slow
def test_the_reel_does_the_work_that_goes_into_stretch_and_bending():
    """Out and back in vacuum without damping: nothing is missing."""
    stages = [
        sw.Stage("pay_out", "reel", length=0.6, speed=0.6, ramp=0.4),
        sw.Stage("haul_in", "reel", start=1.6, length=0.6, speed=0.6, ramp=0.4),
    ]
    step = 0.01
    result = sw.simulate(laid(3.0, 6, stages, EI=EI), duration=3.0, output_step=step, step=step)
    assert result.attrs["result"] == "success"
    kinds = ("kinetic", "stored", "potential")
    energy = sum(result[f"line_{kind}_energy"].values[:, 0] for kind in kinds)
    # of the weight at the end, between samples
    end = result.junction_position.values[:, 0]
    v, z = np.diff(end, axis=0) / step, 0.5 * (end[1:, 2] + end[:-1, 2])
    own = TIP * (9.81 * z + 0.5 * (v * v).sum(-1))
    energy = energy[1:-1] + 0.5 * (own[1:] + own[:-1])
    specified = result.winch_work + result.winch_rope_energy - result.winch_lost_energy
    gap = energy - specified.values[1:-1, 0]
    assert np.ptp(result.line_stored_energy.values) > 5.0
    assert np.ptp(result.winch_segments.values) > 0
    assert np.ptp(gap) < 1e-7 * np.ptp(result.winch_work.values)
