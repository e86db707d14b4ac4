"""Libraries of linear algebra keep to one thread, whichever of them is loaded when."""

import os
import subprocess
import sys

import pytest

WITHIN = """
from threadpoolctl import threadpool_info
from swelltree.spatial.linalg import one_thread

with one_thread():
    import scipy.linalg, scipy.optimize
    print(sorted({each["num_threads"] for each in threadpool_info()}))
"""
FIT = """
import numpy as np
from threadpoolctl import threadpool_info
from swelltree.hydro.radiation import fit

def told(*given):
    import scipy.linalg, scipy.optimize
    print(sorted({each["num_threads"] for each in threadpool_info()}))
    raise SystemExit

fit.METHODS["vector_fitting"] = told
omega = np.linspace(0.2, 3.0, 30)
B = (omega**2 * np.exp(-omega**2))[:, None, None]
fit.fit_radiation(omega, 0.0 * B + 1.0, B, np.ones((1, 1)), cache=False)
"""


@pytest.mark.skipif(os.cpu_count() == 1, reason="one core")
@pytest.mark.parametrize("text", [WITHIN, FIT], ids=["studies", "fits"])
def test_libraries_that_come_later_have_one_thread_too(text):
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", text], capture_output=True)
    assert done.stdout.decode() == "[1]\n", done.stderr.decode()
