r"""Objectives: one number of a run, from its channels at the samples in one window.

Means are over time with the weights of `statistics`, from the end of the ramp to the end of the
run. The smooth maximum is that of Kreisselmeier and Steinhauser (1979), with the standard deviation
as unit,

.. math:: \max x \approx m + \frac{\sigma}{\kappa} \ln \sum_k w_k\, e^{\kappa (x_k - m) / \sigma}

with m the largest sample, w the weights (their sum is one), and :math:`\kappa` its sharpness. It
lies below the largest sample, and the nearer to it the sharper it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from swelltree.describe.errors import SwelltreeError, listed, suggest
from swelltree.jit import Array, jax, jnp
from swelltree.model.effect import Channel
from swelltree.model.model import Model
from swelltree.results.dataset import coordinates

Run = Mapping[str, Array]  # channels under the names of results, time first; "time" and "weight"
SHARPNESS = 20.0


@dataclass(frozen=True)
class ChannelObjective:
    """A statistic of one channel, or of one entry of it.

    Args:
        statistic: "mean", "rms" or "smooth_max".
        channel: name in results.
        where: labels of the entry, dimension and label.
        sharpness: of the smooth maximum.
    """

    statistic: str
    channel: str
    where: tuple[tuple[str, str], ...] = ()
    sharpness: float = SHARPNESS

    def __str__(self) -> str:
        parts = ", ".join((self.channel, *(f"{dim} '{label}'" for dim, label in self.where)))
        return f"{self.statistic} of {parts}"

    def of_model(self, model: Model, labels: Mapping[str, Channel]) -> Callable[[Run], Array]:
        """The function of the channels of a run.

        Args:
            model: that is run.
            labels: of its channels.
        """
        names = {label.name: label for label in labels.values()}
        if self.channel not in names:
            raise SwelltreeError(
                f"objective: this run has no channel '{self.channel}'."
                f"{suggest(self.channel, names)} It has {listed(sorted(names))}."
            )
        dims = names[self.channel].dims
        index: list[int | slice] = [slice(None)]
        where, known = dict(self.where), coordinates(model)
        for dim in dims:
            entries = [str(x) for x in known[dim][1]] if dim in known else []
            label = where.pop(dim, None)
            if label is None:
                index.append(slice(None))
            elif label in entries:
                index.append(entries.index(label))
            else:
                raise SwelltreeError(
                    f"objective: '{self.channel}' has no {dim} '{label}'."
                    f"{suggest(label, entries)} It has {listed(entries)}."
                )
        if where:
            dim = next(iter(where))
            raise SwelltreeError(
                f"objective: '{self.channel}' has no dimension '{dim}'. It has {listed(dims)}."
            )
        return lambda run: self._value(run[self.channel][tuple(index)], run["weight"], dims)

    def _value(self, x: Array, w: Array, dims: tuple[str, ...]) -> Array:
        if self.statistic == "mean":
            # of all entries together: the power of all PTOs
            return w @ x.reshape(len(w), -1).sum(axis=1)
        x = x.reshape(len(w), -1)
        if x.shape[1] != 1:
            raise SwelltreeError(
                f"objective: '{self.channel}' has {x.shape[1]} entries along {listed(dims)}, and "
                f"the {self.statistic} of one is needed. Choose it by its labels."
            )
        x = x[:, 0]
        if self.statistic == "rms":
            return jnp.sqrt(w @ x**2)
        counted = w > 0.0
        top = jax.lax.stop_gradient(jnp.max(jnp.where(counted, x, -jnp.inf)))
        scale = self.sharpness / jnp.sqrt(w @ (x - w @ x) ** 2)
        rise = jnp.exp(jnp.where(counted, scale * (x - top), 0.0))
        return top + jnp.log(w @ rise) / scale


def mean_of(channel: str, **where: str) -> ChannelObjective:
    """The mean of a channel; of several entries the mean of their sum.

    Args:
        channel: name in results, e.g. "absorbed_power".
        where: labels by dimension, e.g. ``pto="pto"``.
    """
    return ChannelObjective("mean", channel, tuple(where.items()))


def rms_of(channel: str, **where: str) -> ChannelObjective:
    """The root mean square of one entry of a channel.

    Args:
        channel: name in results, e.g. "displacement".
        where: labels by dimension, e.g. ``body="float", dof="Heave"``.
    """
    return ChannelObjective("rms", channel, tuple(where.items()))


def smooth_max_of(channel: str, sharpness: float = SHARPNESS, **where: str) -> ChannelObjective:
    """A smooth maximum of one entry of a channel.

    Args:
        channel: name in results, e.g. "line_tension".
        sharpness: how near it comes to the largest sample.
        where: labels by dimension.
    """
    if not sharpness > 0.0:
        raise SwelltreeError(f"sharpness {sharpness} is not positive. Give e.g. {SHARPNESS:g}.")
    return ChannelObjective("smooth_max", channel, tuple(where.items()), sharpness)


Objective = ChannelObjective | Callable[[Run], Array]


def window_weights(times: np.ndarray, first: float) -> np.ndarray:
    """Weights of all samples in means over the window that begins at a time; their sum is one."""
    from swelltree.results.statistics import time_weights

    inside = times >= first
    if not inside.any():
        raise SwelltreeError(
            f"settled {first:g} s lies after the last sample, {times[-1]:g} s. Give less."
        )
    weights = np.zeros(len(times))
    weights[inside] = time_weights(times[inside])
    return weights / weights.sum()
