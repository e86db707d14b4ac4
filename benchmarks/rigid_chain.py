"""MuJoCo and Pinocchio on the hinged chain: time per right-hand side and per simulated second.

Runs in the environment of the peers, which `make bench` builds, and prints one line of JSON per
engine and chain. `rhs_us` is one call from Python; MuJoCo also has a compiled stepper (`mj_step`
with many sub-steps), whose share per right-hand side carries none of Python's own cost:
`rhs_inside_stepper_us`.
"""

from __future__ import annotations

import sys
import time

import mujoco
import numpy as np
import pinocchio as pin

from chain import Chain, best_of, report

STEP = 0.01  # RK4 step [s], as in our own fixed-step runs
CALLS = 2000


def mujoco_chain(chain: Chain) -> mujoco.MjModel:
    """The chain as MJCF: nested bodies, no geometry, hence no contacts and no broad phase."""
    inertial = (
        f'<inertial pos="0 0 0" mass="{chain.mass}" '
        f'diaginertia="{" ".join(map(repr, chain.inertia))}"/>'
    )
    internal = ""
    half = chain.length / 2
    for i in reversed(range(chain.n_bodies)):
        joint = (
            "<freejoint/>"
            if i == 0
            else f'<joint type="hinge" axis="0 1 0" pos="{-half} 0 0" limited="false"/>'
        )
        offset = 0.0 if i == 0 else chain.length
        internal = f'<body name="b{i}" pos="{offset} 0 0">{joint}{inertial}{internal}</body>'
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><option integrator="RK4" timestep="{STEP}" gravity="0 0 0">'
        '<flag contact="disable" energy="enable"/></option>'
        f"<worldbody>{internal}</worldbody></mujoco>"
    )


def run_mujoco(chain: Chain) -> None:
    start = time.perf_counter()
    model = mujoco_chain(chain)
    data = mujoco.MjData(model)
    data.qvel[6:] = chain.hinge_rates
    mujoco.mj_forward(model, data)
    first_call = time.perf_counter() - start
    energy = float(data.energy[1])

    def right_hand_sides() -> None:
        for _ in range(CALLS):
            mujoco.mj_forward(model, data)

    # energy is a diagnostic: switch it off for the timing
    model.opt.enableflags = 0
    rhs = best_of(right_hand_sides) / CALLS
    steps = 1000
    run = best_of(lambda: mujoco.mj_step(model, data, steps))
    model.opt.enableflags = int(mujoco.mjtEnableBit.mjENBL_ENERGY)
    mujoco.mj_forward(model, data)
    report(
        engine="mujoco",
        version=mujoco.__version__,
        n_bodies=chain.n_bodies,
        rhs_us=rhs * 1e6,
        # RK4 calls the right-hand side four times a step
        rhs_inside_stepper_us=run / steps / 4 * 1e6,
        second_ms=run / (steps * STEP) * 1e3,
        solver=f"rk4, step {STEP} s",
        first_call_s=first_call,
        kinetic_energy=energy,
        energy_drift=abs(float(data.energy[1]) / energy - 1.0),
    )


def pinocchio_chain(chain: Chain) -> pin.Model:
    """The chain as a Pinocchio model: a free flyer and revolute joints about y."""
    model = pin.Model()
    model.gravity.setZero()
    inertia = pin.Inertia(chain.mass, np.zeros(3), np.diag(chain.inertia))
    # a joint frame sits on the hinge; the body's centre is half a length further along
    half = np.array([chain.length / 2, 0.0, 0.0])
    parent = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root")
    model.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
    for i in range(1, chain.n_bodies):
        arm = half if i == 1 else 2 * half
        parent = model.addJoint(parent, pin.JointModelRY(), pin.SE3(np.eye(3), arm), f"hinge{i}")
        model.appendBodyToJoint(parent, inertia, pin.SE3(np.eye(3), half))
    return model


def run_pinocchio(chain: Chain) -> None:
    start = time.perf_counter()
    model = pinocchio_chain(chain)
    data = model.createData()
    q = pin.neutral(model)
    v = np.concatenate([np.zeros(6), chain.hinge_rates])
    tau = np.zeros(model.nv)
    pin.aba(model, data, q, v, tau)
    first_call = time.perf_counter() - start
    energy = float(pin.computeKineticEnergy(model, data, q, v))

    def right_hand_sides() -> None:
        for _ in range(CALLS):
            pin.aba(model, data, q, v, tau)

    rhs = best_of(right_hand_sides) / CALLS
    report(
        engine="pinocchio",
        version=pin.__version__,
        n_bodies=chain.n_bodies,
        rhs_us=rhs * 1e6,
        rhs_inside_stepper_us=None,
        # it has no stepper of its own, and a Python loop would measure Python
        second_ms=None,
        solver="aba",
        first_call_s=first_call,
        kinetic_energy=energy,
        energy_drift=None,
    )


def main(sizes: list[int]) -> None:
    for n_bodies in sizes:
        run_mujoco(Chain(n_bodies))
        run_pinocchio(Chain(n_bodies))


if __name__ == "__main__":
    main([int(a) for a in sys.argv[1:]] or [2, 3, 10, 30])
