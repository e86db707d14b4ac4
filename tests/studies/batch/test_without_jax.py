"""A process that finds the programs of a batch on disk imports no JAX, and gives the same bits."""

import subprocess
import sys

import pytest

BATCHES = """
import sys
import warnings

import swelltree as sw
from validation.pto.pto_systems import oscillator

warnings.simplefilter("ignore")
gallery = sw.gallery
seas = [sw.IrregularSea(sw.Jonswap(Hs=1.5, Tp=8.0), omega_max=2.2, seed=k) for k in range(5)]
wave = sw.RegularWave(height=4.0, period=10.0)


def latched():
    machine = sw.LatchingPto("latch", joint="rail", release_after=0.35)
    damping = {"forces.spring.stiffness": [8.0, 9.5, 6.5]}
    return sw.simulate_batch(sw.compile(oscillator(machine)), None, damping, duration=2.0)


def moored(seas, values):
    return sw.simulate_batch(gallery.spar("dynamic").model(), seas, values, duration=4.0)


BATCHES = {
    "sphere": lambda: sw.simulate_batch(gallery.sphere().model(), seas, duration=20.0),
    "series": lambda: sw.simulate_batch(
        gallery.rm3().model(), seas, {"ptos.pto.damping": [1e6, 1.1e6, 2e6, 3e6, 5e5]},
        duration=20.0, step=0.1, reduce=["series", "peaks", "fatigue"],
    ),
    "rm3": lambda: sw.simulate_batch(gallery.rm3().model(), seas, duration=30.0),
    "barges": lambda: sw.simulate_batch(
        gallery.barges().model(), seas, {"ptos.pto1.damping": [1e8, 2e8, 4e8, 6e8, 8e8]},
        duration=30.0,
    ),
    "latch": latched,
    "lines": lambda: moored(seas[:3], None),
    "designs": lambda: moored(wave, {"lines.line1.rest_length": [902.0, 902.5]}),
}
for name in sys.argv[1:]:
    made = BATCHES[name]()
    assert made.attrs["engine"] == "lanes", (name, made.attrs["engine"])
    assert not made.message.values.any(), made.message.values
    kept = (x for x in sorted(made) if made[x].dtype.kind == "f")
    print(name, *(f"{x}:{made[x].values.tobytes().hex()[-64:]}" for x in kept))
print("JAX" if "jax" in sys.modules else "no JAX")
"""


def reported(*words):
    how = {"capture_output": True, "text": True, "timeout": 900}
    done = subprocess.run([sys.executable, "-c", BATCHES, *words], **how)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    "names",
    [
        ["sphere"],
        pytest.param(
            ["series", "rm3", "barges", "latch", "lines", "designs"], marks=pytest.mark.slow
        ),
    ],
)
def test_second_process_runs_a_batch_without_jax_to_the_same_bits(tmp_path, monkeypatch, names):
    monkeypatch.setenv("SWELLTREE_CACHE_DIR", str(tmp_path))
    first, second = reported(*names), reported(*names)
    assert (first[-1], second[-1]) == ("JAX", "no JAX")
    assert first[:-1] == second[:-1]
