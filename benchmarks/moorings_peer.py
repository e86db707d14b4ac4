"""MoorDyn's side of `moorings.py`: steps files with a moved body, in its own environment.

    python moorings_peer.py RUNS.json OUT.npz

Every run of the JSON list names a file, a coupling step, a duration, a period, amplitudes and the
times at which tensions are kept. MoorDyn is given the position at the beginning of each coupling
step and a velocity that it holds: that at the beginning, or the one that leads to the next. CPU
seconds of the stepping alone, the search for the first rest not counted; all runs but
the references are repeated three times, and the minimum counts.

A run with a "float" does not lead the body but steps it in surge and heave by leapfrog, with the
force of the lines that MoorDyn returns.
Damping is centred.
"""

import json
import sys
import time

import moordyn
import numpy as np

REPEATS = 3  # of each timing, the minimum of which counts


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
    stored = []
    used = 0.0
    for k in range(steps):
        if k % stride == 0:
            stored.append([moordyn.GetLineFairTen(line) for line in lines])
        x, v = held(run, k * h, h)
        start = time.process_time()
        moordyn.Step(system, x, v, k * h, h)
        used += time.process_time() - start
    moordyn.Close(system)
    return np.array(stored), used


class Float:
    """A body that moves in surge and heave from rest at its place."""

    def __init__(self, run):
        own = run["float"]
        self.run, self.mass = run, own["mass"]
        self.stiffness, self.damping = np.array(own["stiffness"]), np.array(own["damping"])
        self.force = np.array(own["force"])
        self.x, self.v = np.zeros(2), np.zeros(2)

    def kick(self, t, h, line_force):
        """Velocity that leads to the next place, from the forces at t."""
        wave = ramp(t, self.run["ramp"])[0] * np.cos(2 * np.pi / self.run["period"] * t)
        force = self.force * wave - self.stiffness * self.x + line_force
        half = 0.5 * h * self.damping / self.mass
        if t == 0.0:  # v is that at rest, not half a step before
            self.v = 0.5 * h * force / self.mass
        else:
            self.v = ((1 - half) * self.v + h * force / self.mass) / (1 + half)
        return six(self.v)


def six(surge_heave):
    return [surge_heave[0], 0.0, surge_heave[1], 0.0, 0.0, 0.0]


def couple(run):
    """Tensions, CPU seconds and heave with a float that the lines act on."""
    system = moordyn.Create(run["file"])
    moordyn.Init(system, [0.0] * 6, [0.0] * 6)
    lines = [moordyn.GetLine(system, k + 1) for k in range(moordyn.GetNumberLines(system))]
    body, h = Float(run), run["coupling"]
    force = moordyn.GetBodyForce(moordyn.GetBody(system, 1))
    steps, stride = round(run["duration"] / h), round(run["every"] / h)
    stored, heave, used = [], [], 0.0
    for k in range(steps):
        if k % stride == 0:
            stored.append([moordyn.GetLineFairTen(line) for line in lines])
            heave.append(body.x[1])
        v = body.kick(k * h, h, np.array([force[0], force[2]]))
        place = six(body.x)
        start = time.process_time()
        force = moordyn.Step(system, place, v, k * h, h)
        used += time.process_time() - start
        body.x = body.x + h * body.v
    moordyn.Close(system)
    return np.array(stored), used, np.array(heave)


def main():
    with open(sys.argv[1]) as file:
        runs = json.load(file)
    out = {}
    # references are not timed
    for run in runs + [run for run in runs if "/coupling" in run["name"]] * (REPEATS - 1):
        if "float" in run:
            tension, used, out[run["name"] + "/heave"] = couple(run)
        else:
            tension, used = step_through(run)
        out[run["name"]] = tension
        cpu = run["name"] + "/cpu"
        out[cpu] = min(used, out.get(cpu, np.inf))
    np.savez(sys.argv[2], **out)


if __name__ == "__main__":
    main()
