"""Elevation and pressure head at points near several bodies."""

from swelltree.jit import namespace
from swelltree.waves.sea import surface_about


def surface_head(waves, t, centres, x, y, z, water, stretching="wheeler"):
    """Both (b, v) at points (b, v) near centres (b, 3) [m]."""
    at = [surface_about(waves, t, centre, water, stretching) for centre in centres]
    found = [one(*place) for one, *place in zip(at, x, y, z, strict=True)]
    return tuple(namespace(*part).stack(part) for part in zip(*found, strict=True))
