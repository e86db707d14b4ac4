"""Waves: dispersion, spectra, components, elevation and motion of the water. No JAX is imported."""

from swelltree.waves.airy import Components, Kinematics
from swelltree.waves.components import components
from swelltree.waves.dispersion import dispersion
from swelltree.waves.measured import read_record
from swelltree.waves.ramp import ramp
from swelltree.waves.sea import elevation, kinematics, realise
from swelltree.waves.spectra import density
from swelltree.waves.stream_function import StreamWave
from swelltree.waves.wavespectra import from_wavespectra, to_wavespectra

__all__ = [
    "Components",
    "Kinematics",
    "StreamWave",
    "components",
    "density",
    "dispersion",
    "elevation",
    "from_wavespectra",
    "kinematics",
    "ramp",
    "read_record",
    "realise",
    "to_wavespectra",
]
