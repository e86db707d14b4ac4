"""Example devices with their hydrodynamic data: `sw.gallery.rm3()`, described and ready to run.

    device = sw.gallery.rm3()
    run = sw.simulate(device.model(), device.sea, duration=100)

Each gives its description (`system`), data computed by our own BEM run (`hydro`), a sea that suits
it (`sea`) and where it comes from (`source`). `python -m swelltree.gallery NAME` computes the data
again.
"""

from swelltree.gallery.barges import barges
from swelltree.gallery.hinge_barge import hinge_barge
from swelltree.gallery.oswec import oswec
from swelltree.gallery.pack import Ready
from swelltree.gallery.rm3 import rm3
from swelltree.gallery.spar import spar
from swelltree.gallery.sphere import sphere
from swelltree.gallery.tank import tank

__all__ = ["Ready", "barges", "hinge_barge", "oswec", "rm3", "spar", "sphere", "tank"]
