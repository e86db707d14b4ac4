"""What is kept of the samples of many cases, found where the samples are."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from swelltree.engine.machine.many_cases.kernels import Body, kernel_text
from swelltree.engine.machine.many_cases.threads import GROUP

# of one channel: the last is the largest change from sample to sample
STATISTICS = ("mean", "std", "min", "max", "crossings", "change")
# samples of the energy budget, and what is kept of them
BUDGET = ("kinetic", "stored", "done", "largest_work", "largest_stored", "closure", "extent")
EXTREMES = ("kinetic", "moved", "largest_work", "largest_stored", "closure", "gap", "extent")


@functools.lru_cache(maxsize=8)
def statistics_text(short: bool, on_cpu: bool = False) -> str:
    """Kernel of the statistics of a channel: a thread has one entry of a case.

    Args:
        short: samples have four bytes.
        on_cpu: as of `kernel_text`.
    """

    def write(k: Body) -> None:
        warp, lane = k.split(k.thread, GROUP)
        group, entry = k.split(warp, k.sizes["entries"])
        start = k.plus(k.times(group, k.sizes["room"]), entry)

        def sample(i: Any) -> Any:
            at = k.plus(start, k.times(i, k.sizes["entries"]))
            at = k.plus(k.times(at, GROUP), lane)
            return k.load_short("series", at) if short else k.load("series", at)

        first, samples = k.sizes["first"], k.sizes["samples"]
        begin = sample(first)
        total, change, last = k.variable(0.0), k.variable(0.0), k.variable(begin)
        least, greatest = k.variable(begin), k.variable(begin)
        with k.loop(samples, first) as i:
            x = sample(i)
            # from the first sample, so that a large mean takes nothing of what varies
            away = k.sub(x, begin)
            k.set(total, k.add(k.get(total), k.mul(k.load("shares", i), away)))
            k.set(least, k.choose(k.greater(k.get(least), x), x, k.get(least)))
            k.set(greatest, k.choose(k.greater(x, k.get(greatest)), x, k.get(greatest)))
            step = k.intrinsic("fabs", k.sub(x, k.get(last)))
            k.set(change, k.choose(k.greater(step, k.get(change)), step, k.get(change)))
            k.set(last, x)
        mean = k.add(begin, k.get(total))
        square, crossings, below = k.variable(0.0), k.variable(0.0), k.variable(0.0)
        with k.loop(samples, first) as i:
            away = k.sub(sample(i), mean)
            k.set(square, k.add(k.get(square), k.mul(k.load("shares", i), k.mul(away, away))))
            is_below = k.greater(0.0, away)
            up = k.choose(is_below, 0.0, k.get(below))
            k.set(crossings, k.add(k.get(crossings), up))
            k.set(below, k.choose(is_below, 1.0, 0.0))
        std = k.intrinsic("sqrt", k.get(square))
        values = (mean, std, k.get(least), k.get(greatest), k.get(crossings), k.get(change))
        out = k.times(warp, len(STATISTICS))
        for j, value in enumerate(values):
            k.store("out", k.plus(k.times(k.plus(out, j), GROUP), lane), value)

    sizes = ("entries", "room", "first", "samples")
    return kernel_text(("series", "shares", "out"), sizes, write, on_cpu)


@functools.lru_cache(maxsize=8)
def extremes_text(short: bool, on_cpu: bool = False) -> str:
    """Kernel of the extremes of an energy budget: a thread has one case.

    A gap counts as far as it is still there a sample later. What is no number is infinite.

    Args:
        short: samples have four bytes.
        on_cpu: as of `kernel_text`.
    """

    def write(k: Body) -> None:
        group, lane = k.split(k.thread, GROUP)

        def sample(name: str, i: Any) -> Any:
            at = k.plus(k.times(k.plus(k.times(group, k.sizes["room"]), i), GROUP), lane)
            x = k.load_short(name, at) if short else k.load(name, at)
            return k.choose(k.b.fcmp_unordered("uno", x, x), float(np.inf), x)

        def known(x: Any) -> Any:
            return k.choose(k.b.fcmp_unordered("uno", x, x), float(np.inf), x)

        def balance(i: Any) -> Any:
            energy = k.add(sample("kinetic", i), sample("stored", i))
            return k.sub(energy, sample("done", i))

        stored, open_at_first = sample("stored", k.whole(0)), balance(k.whole(0))
        found = {name: k.variable(0.0) for name in EXTREMES[:-1]}
        before = k.variable(0.0)

        def larger(name: str, x: Any) -> None:
            now = k.get(found[name])
            k.set(found[name], k.choose(k.greater(x, now), x, now))

        with k.loop(k.sizes["samples"]) as i:
            larger("kinetic", sample("kinetic", i))
            moved = k.intrinsic("fabs", k.sub(sample("stored", i), stored))
            larger("moved", known(moved))
            for name in ("largest_work", "largest_stored", "closure"):
                larger(name, sample(name, i))
            gap = known(k.intrinsic("fabs", k.sub(balance(i), open_at_first)))
            earlier = k.get(before)
            larger("gap", k.choose(k.greater(gap, earlier), earlier, gap))
            k.set(before, gap)
        larger("gap", k.get(before))
        values = [k.get(found[name]) for name in EXTREMES[:-1]]
        values.append(sample("extent", k.whole(0)))
        for j, value in enumerate(values):
            at = k.plus(k.times(group, len(EXTREMES)), j)
            k.store("out", k.plus(k.times(at, GROUP), lane), value)

    return kernel_text((*BUDGET, "out"), ("room", "samples"), write, on_cpu)
