"""A changed number of a description changes leaves of the model only: no layout, size or type.

What stays the same is all that compiled programs depend on, so no study compiles anew.
"""

import jax
import numpy as np
import pytest

import rich_systems
import swelltree as sw
from swelltree.describe.paths import number_at, number_paths, with_numbers

# numbers that begin something where they leave zero, or that the description binds to others
BOUND = (
    "body.position",
    "angle_deg",
    "stop_damping",
    "end_Cd",
    "end_Ca",
    "seabed.slope",
    "seabed.damping",
    "seabed.friction",
    "bow.A.position",
    ".EI",
    ".lift",
    "hoist.rest_length",  # of a line on a winch: the drum has room for more segments
)
SYSTEMS = {name: getattr(rich_systems, name)() for name in ("floating", "lifting", "hanging")}


def outside(model):
    """What programs are compiled for: the tree, shapes and types."""
    leaves, tree = jax.tree.flatten(model)
    return tree, [(np.shape(leaf), np.asarray(leaf).dtype) for leaf in leaves]


def another(system, path):
    """A value a few percent off, in general position."""
    old = np.asarray(number_at(system, path))
    part = np.random.default_rng(len(path)).uniform(0.01, 0.04, old.shape)
    new = np.where(old == 0.0, part, old * (1 - part)).tolist()
    return as_tuple(new)


def as_tuple(rows):
    return tuple(map(as_tuple, rows)) if isinstance(rows, list) else rows


@pytest.mark.parametrize("name", SYSTEMS)
def test_every_number_is_a_leaf(name):
    system = SYSTEMS[name]
    before = outside(sw.compile(system))
    changed = {}
    for path in number_paths(system):
        if path == "water.depth" and name == "floating":  # its anchor lies on the ground
            continue
        if not path.endswith(BOUND):
            values = {path: another(system, path)}
            changed[path] = outside(sw.compile(with_numbers(system, values))) == before
    assert len(changed) > 30
    assert not [path for path, same in changed.items() if not same]


@pytest.mark.parametrize(
    "spectrum",
    [sw.Jonswap(Hs=2.0, Tp=8.0), sw.OchiHubble(1.0, 13.0, 3.0, 1.0, 7.0, 1.5)],
    ids=["jonswap", "ochi_hubble"],
)
def test_grids_of_the_excitation_have_one_size_for_all_seeds(spectrum):
    """The last bin of a sea is wide: seeds whose highest frequency differs share their programs."""
    from made_hydro import MASS, heaving_float
    from swelltree.hydro.linear.in_sea import apply_sea

    body = sw.Body("float", mass=MASS, inertia=(1e6,) * 3)
    system = sw.System(
        "heaving", [body], [sw.Slider("rail", sw.WORLD, body)], water=sw.Water(rho=1000.0)
    )
    model = sw.compile(system, heaving_float(), radiation="none")
    found = set()
    for seed in range(12):
        sea = sw.IrregularSea(spectrum, seed=seed, components=15, omega_max=5.5)
        tree, sizes = outside(apply_sea(model, sw.realise(sea, model.water), 25.0))
        found.add((tree, tuple(sizes)))
    assert len(found) == 1
