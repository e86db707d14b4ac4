"""A sphere on a mast in waves: a run that is quick, has a PTO and feels the sea without data."""

import functools

import numpy as np

import swelltree as sw


def buoy():
    bob = sw.Body("bob", hull=sw.Sphere(radius=2.0, draft=2.0, panel_size=1.5))
    return sw.System(
        "buoy",
        bodies=[bob],
        joints=[sw.Slider("mast", sw.WORLD, bob, axis="z", position=0.5)],
        ptos=[sw.LinearPto("pto", joint="mast", damping=2e4)],
    )


def buoy_model():
    return sw.compile(buoy(), nonlinear=True, added_mass=np.diag([1.7e4] * 3 + [0.0] * 3))


@functools.cache
def buoy_run(*, ramp=12.0, period=4.0, duration=40.0, output_step=0.1, **options):
    wave = sw.RegularWave(amplitude=0.5, period=period, ramp=ramp)
    return sw.simulate(buoy_model(), wave, duration=duration, output_step=output_step, **options)
