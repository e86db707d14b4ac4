"""Winches and operations as they are described: what is taken, what is told."""

import pytest

import swelltree.describe as sw
from swelltree.describe.mooring.operations import couplings, winch_schedule

ROPE = sw.LineType("rope", diameter=0.03, mass_per_length=4.0, EA=4e7)
LOAD = sw.Body("load", mass=1e3, inertia=(1, 1, 1), position=(0, 0, -10))


def hoist(winches=(), operations=(), B=LOAD, junctions=(), **more):
    line = sw.Line("hoist", sw.WORLD.at(0, 0, 10), B, 20.0, ROPE, segments=4, **more)
    joints = [sw.Free("free", sw.WORLD, LOAD)]
    return sw.System(
        "crane",
        [LOAD],
        joints,
        lines=[line],
        winches=winches,
        operations=operations,
        junctions=junctions,
    )


def caught(*stages):
    hook = sw.Junction("hook", (0, 0, -9), mass=10)
    return hoist([sw.Winch("w", "hoist")], [operation(*stages)], B=hook, junctions=[hook])


def operation(*stages):
    return sw.Operation("op", stages)


def test_stages_follow_each_other_and_give_the_rope_they_say():
    op = operation(
        sw.Stage("pay_out", "w", length=50, speed=0.5, ramp=4),
        sw.Stage("hold", "w", duration=10),
        sw.Stage("haul_in", "w", duration=20, speed=1.0, ramp=5),
        sw.Stage("release", "hoist"),
    )
    assert op.times == ((0.0, 104.0), (104.0, 114.0), (114.0, 134.0), (134.0, 134.0))
    plan = winch_schedule([op], "w")
    assert (plan.most, plan.least) == (50.0, 0.0)
    area = sum(
        0.5 * (a + b) * (t1 - t0)
        for t0, t1, a, b in zip(plan.time, plan.time[1:], plan.speed, plan.speed[1:], strict=False)
    )
    assert area == pytest.approx(50.0 - 15.0)
    assert [(c.line, c.time, c.to) for c in couplings([op])] == [("hoist", 134.0, None)]


BAD = {
    "in the system": lambda: hoist([sw.Winch("w", "hoits")]),
    "has winch 'w' already": lambda: hoist([sw.Winch("w", "hoist"), sw.Winch("v", "hoist")]),
    "cannot change its length": lambda: hoist([sw.Winch("w", "hoist")], model="lumped"),
    "'drum' is missing": lambda: hoist([sw.Winch("w", "hoist", speed=1.0)]),
    "is controlled, but 'drum'": lambda: hoist(
        [sw.Winch("w", "hoist", control=sw.HeaveCompensation())]
    ),
    "shorter than the 20.0 m": lambda: hoist([sw.Winch("w", "hoist", drum=15)]),
    "below its shortest": lambda: hoist([sw.Winch("w", "hoist", min_length=1)]),
    "only 5 m are left on the drum": lambda: hoist(
        [sw.Winch("w", "hoist", drum=25)],
        [operation(sw.Stage("pay_out", "w", length=50, speed=1))],
    ),
    "may not be shorter than 5 m": lambda: hoist(
        [sw.Winch("w", "hoist")], [operation(sw.Stage("haul_in", "w", length=18, speed=1))]
    ),
    "more than max_speed": lambda: hoist(
        [sw.Winch("w", "hoist", max_speed=0.5)],
        [operation(sw.Stage("pay_out", "w", length=50, speed=1))],
    ),
    "needs two of duration, length and speed": lambda: sw.Stage("pay_out", "w", length=3),
    "two ramps": lambda: sw.Stage("pay_out", "w", length=3, duration=5, ramp=4),
    "happens at once": lambda: sw.Stage("release", "hoist", duration=3),
    "Give to=body.at": lambda: sw.Stage("couple", "hoist"),
    "not free to be caught": lambda: hoist(
        [sw.Winch("w", "hoist")], [operation(sw.Stage("couple", "hoist", to=LOAD))]
    ),
    "in its stage before until 50 s": lambda: operation(
        sw.Stage("pay_out", "w", length=50, speed=1),
        sw.Stage("pay_out", "w", length=50, speed=1, start=20),
    ),
    "while operation 'op' stage 1 pays out 50 m at winch 'w' until 50 s": lambda: hoist(
        [sw.Winch("w", "hoist")],
        [
            operation(sw.Stage("pay_out", "w", length=50, speed=1)),
            sw.Operation("stop", [sw.Stage("brake", "w", start=20, duration=5)]),
        ],
    ),
    "stage 1 'pay_out' starts at 12 s, while operation 'op' stage 1 holds": lambda: hoist(
        [sw.Winch("w", "hoist")],
        [
            operation(sw.Stage("hold", "w", start=10, duration=5)),
            sw.Operation("go", [sw.Stage("pay_out", "w", length=5, speed=1, start=12)]),
        ],
    ),
    "'brake' of winch 'w' has zero duration": lambda: hoist(
        [sw.Winch("w", "hoist")],
        [operation(sw.Stage("brake", "w"), sw.Stage("pay_out", "w", length=5, speed=1))],
    ),
    "set speed of 0.6 m/s and its stages of 0.5 m/s": lambda: hoist(
        [sw.Winch("w", "hoist", speed=0.6, max_speed=1.0, drum=90)],
        [operation(sw.Stage("pay_out", "w", length=5, speed=0.5))],
    ),
    "its stages of 1.4 m/s together": lambda: hoist(
        [sw.Winch("w", "hoist", max_speed=1.0)],
        [
            operation(sw.Stage("pay_out", "w", length=7, speed=0.7)),
            sw.Operation("too", [sw.Stage("pay_out", "w", length=7, speed=0.7, start=5)]),
        ],
    ),
    "couple or release it twice at t = 5 s": lambda: caught(
        sw.Stage("couple", "hoist", to=LOAD, start=5), sw.Stage("release", "hoist")
    ),
    "at t = 2 s, when nothing holds its end B": lambda: caught(
        sw.Stage("release", "hoist", start=2), sw.Stage("couple", "hoist", to=LOAD, start=5)
    ),
    "couple it at t = 9 s, while it is coupled since 5 s": lambda: caught(
        sw.Stage("couple", "hoist", to=LOAD, start=5), sw.Stage("couple", "hoist", to=LOAD, start=9)
    ),
    "is not a stage action": lambda: sw.Stage("drop", "w"),
    "split and merge at once": lambda: sw.Winch("w", "l", alpha_split=1.1, alpha_merge=0.95),
}


@pytest.mark.parametrize("reported", BAD)
def test_mistake_is_told_in_a_sentence(reported):
    with pytest.raises(sw.SwelltreeError) as error:
        BAD[reported]()
    assert reported in str(error.value)
    assert "\n" not in str(error.value)


def test_drum_follows_from_the_operations():
    system = hoist(
        [sw.Winch("w", "hoist")], [operation(sw.Stage("pay_out", "w", length=50, speed=1))]
    )
    assert sw.loads(system.to_toml()).system == system


def test_overlapping_operations_ask_for_the_sum_of_their_rope():
    one = sw.Operation("one", [sw.Stage("pay_out", "w", length=14, duration=16, ramp=2)])
    two = sw.Operation("two", [sw.Stage("pay_out", "w", length=15, duration=10, start=5)])
    plan = winch_schedule([two, one], "w")
    assert plan.most == pytest.approx(29.0)
    assert list(plan.time) == sorted(plan.time)
    assert [(row.operation.name, row.begin, row.end) for row in plan.stages] == [
        ("one", 0.0, 16.0),
        ("two", 5.0, 15.0),
    ]
    # out and back at once: the longest is where the sum turns
    back = sw.Operation("back", [sw.Stage("haul_in", "w", length=10, duration=5, start=12)])
    plan = winch_schedule([one, back], "w")
    assert plan.most == pytest.approx(11.0)
    assert plan.least == 0.0
