"""From the description of weak scatterers to their effect."""

from __future__ import annotations

import math

import numpy as np

from swelltree.effects.weak_scatterer.beach import FIRST, longest_wave, wanted_beach
from swelltree.effects.weak_scatterer.checks import described_bodies, described_scatterer
from swelltree.effects.weak_scatterer.effect import (
    BEACH,
    MESHES,
    SMOOTHING,
    WATERLINE,
    WeakScatterers,
)
from swelltree.effects.weak_scatterer.incident.interface import Still
from swelltree.effects.weak_scatterer.mesh.hulls import hull_mesh
from swelltree.effects.weak_scatterer.mesh.surface import Surface, checked_watertight
from swelltree.effects.weak_scatterer.mesh.tank import Tank
from swelltree.effects.weak_scatterer.motion.meshed import Floater
from swelltree.effects.weak_scatterer.motion.mesher import Mesher
from swelltree.effects.weak_scatterer.motion.scene import build_scene
from swelltree.effects.weak_scatterer.motion.stepping import longest_step
from swelltree.engine.arrays import Tree
from swelltree.engine.backend import jax, jnp
from swelltree.model.build_layout import pose_of
from swelltree.model.layout import Layout
from swelltree.system import System
from swelltree.system.errors import SwelltreeError
from swelltree.system.forces.weak_scatterer import WeakScatterer


def build_weak_scatterers(system: System, layout: Layout) -> WeakScatterers | None:
    """The effect; None if none is described."""
    water = described_scatterer(system)
    if water is None:
        return None
    if system.current is not None:
        raise water.fail(
            "its flow does not know the current of the system. Leave the current out, or give "
            "these bodies hydro data."
        )
    names = described_bodies(system)
    size = water.spacing if water.panel_size is None else water.panel_size
    floaters = [_floater(system, name, size, water.symmetric) for name in names]
    tank = _tank(system, water, floaters)
    beach = water.beach
    if beach is None:
        first = FIRST * water.radius if water.beach_from is None else water.beach_from
        longest = longest_wave(water.radius, system.water.g)
        beach = wanted_beach(longest, water.radius - first, tank.depth, system.water.g)
    mesher = None
    if water.crossing:
        mesher = _mesher(system, water, tank, beach, size)
        scene = jax.tree.map(jnp.asarray, mesher.scene(mesher.described()))
    else:
        scene = build_scene(
            tank, floaters, system.water, water.mode, beach=beach, beach_from=water.beach_from
        )
    limit = longest_step(scene)
    if water.step is not None and water.step > limit:
        raise water.fail(
            f"step {water.step:g} s is too large for a free surface with a spacing of "
            f"{scene.spacing:.3g} m. Give at most {limit:.3g} s."
        )
    return WeakScatterers(
        scene=scene,
        wave=Still(),
        prepared=None,
        solution=None,
        names=_terms(water.name, bool(scene.shells), mesher is not None),
        bodies=tuple(layout.bodies.index(name) for name in names),
        geometry=water.geometry,
        coupling=water.coupling,
        tank_radius=water.radius,
        given_step=water.step,
        given_beach=water.beach is not None,
        mesher=mesher,
        iterated=water.solve == "gmres",
        single=water.preconditioner == "float32",
    )


def _terms(name: str, on_surface: bool, crossing: bool) -> tuple[str, ...]:
    """Of the books: the water, its beach, waterlines that move, smoothing, new meshes."""
    words = [BEACH, *[WATERLINE, SMOOTHING] * on_surface, *[MESHES] * crossing]
    return (name, *(f"{name} {word}" for word in words))


def _mesher(system: System, water: WeakScatterer, tank: Tank, beach: float, size: float) -> Mesher:
    """What meshes are made from where bodies cross the surface."""
    names = described_bodies(system)
    for name in water.crossing:
        if name not in names:
            raise water.fail(
                f"crossing names '{name}', which is none of its bodies. Name it in bodies too."
            )
    floaters, rings = [], []
    for number, name in enumerate(names):
        body, (p, R) = system.body(name), pose_of(system, name)
        surface = checked_watertight(name, hull_mesh(body, size))
        if water.symmetric:
            _check_symmetric(name, surface, p, R)
        place = p + R @ np.array(body.reference)
        floater = Floater(name, surface, tuple(place.tolist()), R)
        z = floater.placed.vertices[:, 2]
        if name in water.crossing or z.min() < 0.0 < z.max():
            *plan, tall = np.ptp(surface.vertices, axis=0)
            wide = min(plan)
            deep = 0.5 * tall if name in water.crossing else -z.min()
            rings.append((number, max(4, round(0.8 * (0.5 * wide + deep) / size))))
        floaters.append(floater)
    crossing = tuple(names.index(name) for name in water.crossing)
    mesher = Mesher(
        tank, tuple(floaters), system.water, water.mode, beach, water.beach_from, size, crossing,
        tuple(rings),
    )  # fmt: skip
    try:
        return mesher.with_sizes()
    except SwelltreeError as error:
        raise water.fail(str(error)) from None


def _floater(system: System, name: str, size: float, half: bool) -> Floater:
    """A body with its mesh about the reference point."""
    body = system.body(name)
    p, R = pose_of(system, name)
    surface = hull_mesh(body, size)
    place = tuple((p + R @ np.array(body.reference)).tolist())
    z = surface.moved(place, R).vertices[:, 2]
    pierces = bool(z.min() < 0.0 < z.max())
    if half:
        _check_symmetric(name, surface, p, R)
        surface = surface if pierces else surface.half()
    return Floater(name, surface, place, R, size if pierces else None)


def _check_symmetric(name: str, surface: Surface, p: np.ndarray, R: np.ndarray) -> None:
    """A body in a half tank is its own image in y = 0."""
    y = surface.moved(p, R).vertices[:, 1]
    if abs(y.min() + y.max()) > 1e-6 * np.abs(y).max():
        raise SwelltreeError(
            f"body '{name}' reaches from y = {y.min():.4g} m to {y.max():.4g} m: the plane of "
            "symmetry y = 0 does not halve it. Move it there or give symmetric=False."
        )


def _tank(system: System, water: WeakScatterer, floaters: list[Floater]) -> Tank:
    deep = math.isinf(system.water.depth)
    if water.depth is not None and not deep and water.depth != system.water.depth:
        raise water.fail(
            f"depth {water.depth:g} m is not that of the water, {system.water.depth:g} m. Leave "
            "depth out."
        )
    depth = water.depth if water.depth is not None else water.radius if deep else system.water.depth
    places = np.array([f.position for f in floaters])[:, :2]
    center: Tree = water.center
    if center is None:
        center = tuple((0.5 * (places.min(0) + places.max(0))).tolist())
    if water.symmetric and abs(center[1]) > 1e-9 * water.radius:
        raise water.fail(
            f"its bodies lie about y = {center[1]:.4g} m, off the plane of symmetry y = 0. Move "
            "them there or give symmetric=False."
        )
    far = 0.1 * water.radius if water.far_spacing is None else water.far_spacing
    try:
        return Tank(
            radius=water.radius,
            depth=float(depth),
            near=water.spacing,
            far=max(far, water.spacing),
            fine=water.fine,
            symmetric=water.symmetric,
            levels=water.levels,
            center=(float(center[0]), 0.0 if water.symmetric else float(center[1])),
        )
    except SwelltreeError as error:
        raise water.fail(str(error)) from None
