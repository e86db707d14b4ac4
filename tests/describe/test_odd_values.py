"""Whatever is given for whatever field: it is taken, or told in one line, and never breaks."""

import dataclasses
import datetime
import math
import warnings

import numpy as np
import pytest

import swelltree.describe as sw
from swelltree.describe.bodies.hulls import HULL_SHAPES
from swelltree.describe.casefile.case import LISTS, STUDY_TYPES
from swelltree.describe.environment.water import CURRENT_TYPES
from swelltree.describe.forces.signals import SIGNAL_TYPES

ODD = [
    *(None, 3, -1.5, math.nan, math.inf, 10**400, True, 1j, np.float32(2), np.array(2.0)),
    *("x", "a:b", "", b"x", datetime.date(2020, 1, 1), object(), int, lambda t: t),
    *([], (), [1], [1, 2, 3], [None], {1, 2}, np.zeros((2, 2)), np.array(["a"])),
    *([[1, 2, 3]] * 3, np.eye(3), [[1, [2], 3], [1], [2]], ("Pitch", 1), ((1, 2),), (("Pitch",),)),
    *({}, {"a": 1}, {1: 2}, {"type": "table"}, {"type": 3}, {"type": [1]}, {"shape": [1]}),
    *({"body": 3}, {"body": "b", "position": "x"}, {"Pitch": None}, {"Pitch": {"type": "x"}}),
    *(sw.WORLD, sw.Body("q"), sw.Weld("w", "a", "b"), sw.Water()),
]
NEEDED = {
    "name": "n",
    "base": "a",
    "follower": "b",
    "a": "a",
    "b": "b",
    "joint": "j",
    "point": "a",
    "lead": 1,
    "dofs": ["Surge"],
    "measures": [],
    "drives": ["r"],
    "file": "a.fmu",
    "inputs": {"x": "r.stroke"},
    "outputs": {"F": "r"},
    "sample_time": 0.1,
    "law": "a:b",
    "duration": 1,
    "time": [0, 1],
    "value": [0, 1],
    "amplitude": 1,
    "omega": 1,
    "coefficients": [1],
    "length": 1,
    "width": 1,
    "height": 1,
    "draft": 1,
    "radius": 1,
    "spacing": 0.1,
    "thickness": 0.1,
    "depth": 1,
    "profile": [(0, -1), (1, 1)],
    "path": "hull.stl",
    "hulls": [sw.Sphere(1)],
    "body": "a",
    "damping": {"Surge": 1.0},
    "area": (1, 1, 1),
    "diameter": 1,
    "angle_deg": (0, 180),
    "speed": (1, 2),
    "function": "a:b",
    "bodies": [sw.Body("a")],
    "joints": [sw.Free("f", "world", "a")],
    "friction": 1,
    "piston_area": 1,
    "pressure": 1,
    "precharge": 1e6,
    "gas_volume": 1,
    "ratio": 1,
    "inertia": 1,
    "generator_damping": 1,
    "sea": sw.RegularWave(amplitude=1, period=8),
    "A": "a",
    "B": "b",
    "position": (0, 0, 0),
    "mass_per_length": 1,
    "line": "a",
    "over": {"Hs": [0.7, 1.9], "Tp": [6.3]},
    "stages": [sw.Stage("hold", "w", duration=1)],
    "action": "hold",
    "target": "w",
    "tension": 1,
    "gain": 1,
    "hub": "a",
    "wind_speed": (1, 2),
    "Ct": (1, 0.5),
    "effect": "laws:Own",
    "u": (1,),
    "coordinates": {"a": 1.0, "b": -2.0},
    "vertices": ((0, 0, -1), (1, 0, -1), (0, 1, -1), (0, 0, 1)),
    "faces": ((0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)),
}
TYPES = [classes for _, classes in LISTS.values()] + [STUDY_TYPES, SIGNAL_TYPES, HULL_SHAPES]
CLASSES = [cls for row in TYPES for cls in (row.values() if isinstance(row, dict) else [row])]
WINCHES = [sw.Stage, sw.ConstantTension, sw.HeaveCompensation]
EXTRA = [*WINCHES, sw.Wind, sw.Water, sw.Point, sw.System, sw.HydroSpec, sw.RadiationFit]


@pytest.mark.parametrize("cls", [*CLASSES, *CURRENT_TYPES.values(), *EXTRA])
def test_odd_value_is_taken_or_told(cls):
    fields = dataclasses.fields(cls)
    needed = {f.name: NEEDED[f.name] for f in fields if f.default is dataclasses.MISSING}
    if cls is sw.AppliedForce:
        needed["force"] = (1, 2, 3)
    if issubclass(cls, sw.Pto):
        needed["joint"] = "j"
    if cls is sw.EndStops:
        needed |= {"upper": 1, "stop_stiffness": 1}
    if cls is sw.BodyDrag:
        needed["Cd"] = (1, 1, 1)
    if cls is sw.MorisonMember:
        needed["b"] = sw.Point("a", (0, 0, 1))
    if cls is sw.CurrentTable:
        needed["depth"] = (0, 1)
    elif "speed" in needed:
        needed["speed"] = 1
    if cls is sw.OperabilityStudy:
        needed["limits"] = [{"channel": "velocity", "limit": [-0.3, 2.1]}]
        needed["simulate"] = {"duration": 3.0}
    if cls is sw.HydroSpec:
        needed |= {"source": "capytaine", "omega": [1]}
    for field in fields:
        for value in ODD:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", sw.SwelltreeWarning)
                    built = cls(**{**needed, field.name: value})
            except sw.SwelltreeError as error:
                message = str(error)
                assert "\n" not in message
                assert len(message) < 330
            else:
                # what is taken is in its stored form: making it anew changes nothing
                assert built.replace() == built
                assert hash(built.replace()) == hash(built)
