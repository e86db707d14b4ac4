"""MoorDyn's side of `moorings.py`: steps files with a moved body, in its own environment.

    python moorings_peer.py RUNS.json OUT.npz

Every run of the JSON list names a file, a coupling step, a duration, a period, amplitudes and the
times at which tensions are kept. MoorDyn is told the position at the beginning of each coupling
step and a velocity that it holds: that at the beginning, or the one that leads to the next. CPU
seconds of the stepping alone, the search for the first rest not counted.
"""

import json
import sys
import time

import moordyn
import numpy as np


def ramp(t, length):
    """Rises from 0 to 1 with two continuous derivatives; and its rate."""
    s = min(t / length, 1.0)
    return s**3 * (10 - 15 * s + 6 * s**2), 30 * s**2 * (1 - s) ** 2 / length


def motion(run, t):
    """Position and velocity of the body (6,)."""
    w = 2 * np.pi / run["period"]
    r, dr = ramp(t, run["ramp"])
    surge, heave = run["surge"], run["heave"]
    x, z = surge * np.sin(w * t), heave * np.cos(w * t)
    dx, dz = surge * w * np.cos(w * t), -heave * w * np.sin(w * t)
    base = run["base"]
    place = [base[0] + r * x, base[1], base[2] + r * z, 0.0, 0.0, 0.0]
    return place, [r * dx + dr * x, 0.0, r * dz + dr * z, 0.0, 0.0, 0.0]


def held(run, t, h):
    """Position at t, and the velocity to be held over a step: that which leads to the next."""
    x, v = motion(run, t)
    if run["velocity"] == "secant":
        v = [(b - a) / h for a, b in zip(x, motion(run, t + h)[0], strict=True)]
    return x, v


def step_through(run):
    system = moordyn.Create(run["file"])
    x, v = motion(run, 0.0)
    moordyn.Init(system, x, [0.0] * 6)
    lines = [moordyn.GetLine(system, k + 1) for k in range(moordyn.GetNumberLines(system))]
    h, every = run["coupling"], run["every"]
    steps, stride = round(run["duration"] / h), round(every / h)
    kept = []
    used = 0.0
    for k in range(steps):
        if k % stride == 0:
            kept.append([moordyn.GetLineFairTen(line) for line in lines])
        x, v = held(run, k * h, h)
        start = time.process_time()
        moordyn.Step(system, x, v, k * h, h)
        used += time.process_time() - start
    moordyn.Close(system)
    return np.array(kept), used


def main():
    with open(sys.argv[1]) as file:
        runs = json.load(file)
    out = {}
    for run in runs:
        tension, used = step_through(run)
        out[run["name"]] = tension
        out[run["name"] + "/cpu"] = used
    np.savez(sys.argv[2], **out)


if __name__ == "__main__":
    main()
