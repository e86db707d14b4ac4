"""A float with a power take-off in made data, and campaigns of it that take seconds."""

import functools

import made_hydro
import swelltree as sw

SEA = sw.IrregularSea(sw.Jonswap(Hs=1.5, Tp=7.0), seed=3, components=30, omega_max=4.0, ramp=5.0)


@functools.cache
def float_model(damping=1.5e5):
    body = sw.Body("float", made_hydro.MASS, (1e6, 1e6, 1e6))
    system = sw.System(
        "float",
        [body],
        [sw.Slider("rail", sw.WORLD, body, axis="z")],
        ptos=[sw.LinearPto("pto", joint="rail", damping=damping)],
        water=sw.Water(rho=1000.0),
    )
    return sw.compile(system, made_hydro.heaving_float())


def small_campaign(**changes):
    """Twelve cases of twenty seconds, in blocks of four."""
    options = {
        "vary": [
            sw.ScatterDiagram([1.0, 2.0], [6.0, 8.0], [[1, 2], [0, 3]]),
            sw.Values("ptos.pto.damping", [1e5, 2e5]),
            sw.Seeds(2),
        ],
        "sea": SEA,
        "duration": 20.0,
        "output_step": 0.25,
        "step": 0.25,
        "lanes": 4,
        "name": "small",
    }
    return sw.Campaign(float_model(), **(options | changes))
