"""A controller that learns: a heaving sphere in a regular wave as an environment of gymnasium.

The environment uses `swelltree.stepper`: an action is the PTO force, held for a twentieth of the
wave period; the reward is the energy that the PTO absorbs in this time. A policy with two
parameters, u = -c v - k x within the limit of the PTO, is trained by the cross-entropy method,
which draws policies, keeps the best, and draws again around them. It finds that a negative spring
brings the sphere into resonance with a wave longer than its natural period, which no damper can
do.

With gymnasium (`pip install gymnasium`) the class is an environment of gymnasium, for any agent;
without it the class works alone.
"""

import time
from typing import Any

import numpy as np

import swelltree as sw

try:
    import gymnasium
except ImportError:  # the same methods, without spaces
    gymnasium = None
Env: Any = object if gymnasium is None else gymnasium.Env

PERIOD, AMPLITUDE = 7.0, 0.5  # of the wave [s], [m]
HOLD = PERIOD / 20  # over which a force is held [s]
FORCE = 4e5  # limit of the PTO [N]
SETTLING, EPISODE = 8, 4  # wave periods before an episode, and of an episode


class SphereInWave(Env):
    """Observe stroke and velocity, push, be paid for absorbed energy."""

    def __init__(self, damping: float = 1.0) -> None:
        model = sw.gallery.sphere(damping=damping).model()
        wave = sw.RegularWave(amplitude=AMPLITUDE, period=PERIOD, ramp=3 * PERIOD)
        self.run = sw.stepper(model, wave, keep=1)
        self.run.step(SETTLING * PERIOD)
        self.settled = self.run.save()  # where every episode begins
        self.end = self.run.time + EPISODE * PERIOD
        if gymnasium is not None:
            self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (2,), np.float64)
            self.action_space = gymnasium.spaces.Box(-1.0, 1.0, (1,), np.float64)

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple:
        """Back to the settled motion."""
        if gymnasium is not None:
            super().reset(seed=seed)
        self.run.restore(self.settled)
        return self.seen(), {}

    def step(self, action: np.ndarray) -> tuple:
        """Hold a force, given as a fraction of the limit of the PTO."""
        before = self.absorbed()
        push = float(np.clip(np.reshape(action, -1)[0], -1.0, 1.0))
        self.run.step(HOLD, {"pto": FORCE * push})
        reward = (self.absorbed() - before) / 1e3
        over = self.run.time > self.end - 0.5 * HOLD
        return self.seen(), reward, False, over, {"time": self.run.time}

    def seen(self) -> np.ndarray:
        """Stroke and velocity of the PTO."""
        return np.array([self.run["pto_stroke.pto"], self.run["pto_rate.pto"]])

    def absorbed(self) -> float:
        """Energy taken from the sea so far [J], from the energy balance of the run."""
        return -self.run["work.pto"]


def power(env: SphereInWave, policy: np.ndarray) -> float:
    """Mean power over the last half of an episode [kW]; the motion settles in the first."""
    damping, stiffness = 1e5 * np.exp(policy[0]), 1e5 * policy[1]
    seen, _ = env.reset()
    rewards, over = [], False
    while not over:
        action = np.array([(-stiffness * seen[0] - damping * seen[1]) / FORCE])
        seen, reward, _, over, _ = env.step(action)
        rewards.append(reward)
    late = rewards[len(rewards) // 2 :]
    return sum(late) / (len(late) * HOLD)


def learn(env: SphereInWave, rounds: int = 6, draws: int = 10, best: int = 3) -> np.ndarray:
    """A policy by the cross-entropy method: logarithm of the damping, and the spring."""
    random = np.random.default_rng(1)
    mean, spread = np.array([1.0, 0.0]), np.array([1.0, 3.0])
    for k in range(rounds):
        tried = mean + spread * random.standard_normal((draws, 2))
        powers = np.array([power(env, policy) for policy in tried])
        chosen = tried[np.argsort(powers)[-best:]]
        # part of the previous spread is kept, so that the search does not stop too early
        mean, spread = chosen.mean(0), chosen.std(0) + 0.2 * spread
        print(f"round {k + 1}: mean of the best {np.sort(powers)[-best:].mean():.1f} kW")
    return mean


def best_damper(env: SphereInWave) -> float:
    """Largest mean power of dampers without a controller [kW], which need no machine."""
    powers = []
    for damping in np.geomspace(3e4, 3e6, 13):
        env.run.restore(env.settled)
        env.run.change({"ptos.pto.damping": damping})
        env.run.step(4 * PERIOD)
        before = env.absorbed()
        env.run.step(2 * PERIOD)
        powers.append((env.absorbed() - before) / (2 * PERIOD) / 1e3)
    return max(powers)


def main() -> None:
    env = SphereInWave()
    damper = best_damper(env)
    began = time.process_time()
    policy = learn(env)
    spent = time.process_time() - began
    learned = power(env, policy)
    print(f"the best damper absorbs {damper:.1f} kW, the learned controller {learned:.1f} kW")
    print(f"spring {policy[1] * 1e5:.3g} N/m, {spent:.0f} s of CPU time for training")
    assert policy[1] < 0.0
    assert abs(damper - 23.39) < 0.01 * 23.39  # that of the frequency domain
    assert 2.5 * damper < learned < 81.5  # kW, the limit of a heaving body: F^2 / 8 B
    assert spent < 60.0


if __name__ == "__main__":
    main()
