"""From the description of weak scatterers to their effect."""

from __future__ import annotations

import math

import numpy as np

from swelltree.describe import Body, System
from swelltree.describe.errors import SwelltreeError
from swelltree.describe.forces.weak_scatterer import (
    WeakScatterer,
    described_bodies,
    described_scatterer,
)
from swelltree.hydro.weak_scatterer.beach import FIRST, longest_wave, required_beach
from swelltree.hydro.weak_scatterer.effect import (
    BEACH,
    MESHES,
    SMOOTHING,
    SPRAY,
    WATERLINE,
    WeakScatterers,
)
from swelltree.hydro.weak_scatterer.entry import build_entry
from swelltree.hydro.weak_scatterer.incident.interface import Still
from swelltree.hydro.weak_scatterer.mesh.hulls import hull_mesh
from swelltree.hydro.weak_scatterer.mesh.surface import Surface, checked_watertight
from swelltree.hydro.weak_scatterer.mesh.tank import Tank
from swelltree.hydro.weak_scatterer.motion.meshed import Floater
from swelltree.hydro.weak_scatterer.motion.mesher import Mesher
from swelltree.hydro.weak_scatterer.motion.scene import build_scene, longest_step
from swelltree.jit import Tree, jax, jnp
from swelltree.multibody.build_layout import pose_of
from swelltree.multibody.layout import Layout

PANELS = 200  # of a hull under water, where no size is given
ERROR = 0.02  # that these are expected to have; errors fall with their size to the power 1.5


def build_weak_scatterers(
    system: System, layout: Layout, finer: float = 1.0
) -> WeakScatterers | None:
    """The effect; None if none is described.

    Args:
        system: as described.
        layout: of the model.
        finer: sizes of all triangles are divided by this.
    """
    water = described_scatterer(system)
    if water is None:
        return None
    if finer != 1.0:
        water = _finer(water, finer)
    if system.current is not None:
        raise water.fail(
            "its flow does not include the current of the system. Leave the current out, or give "
            "these bodies hydro data."
        )
    names = described_bodies(system)
    size = water.spacing if water.panel_size is None else water.panel_size
    floaters = [_floater(system, name, water, finer) for name in names]
    tank = _tank(system, water, floaters)
    beach = water.beach
    if beach is None:
        first = FIRST * water.radius if water.beach_from is None else water.beach_from
        longest = longest_wave(water.radius, system.water.g)
        beach = required_beach(longest, water.radius - first, tank.depth, system.water.g)
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
    bodies = tuple(layout.bodies.index(name) for name in names)
    return WeakScatterers(
        scene=scene,
        wave=Still(),
        prepared=None,
        solution=None,
        names=_terms(water.name, bool(scene.shells), mesher is not None),
        bodies=bodies,
        geometry=water.geometry,
        tank_radius=water.radius,
        tank_spacing=water.spacing,
        specified_step=water.step,
        specified_beach=water.beach is not None,
        accuracy=water.accuracy,
        mesher=mesher,
        entry=None if mesher is None else build_entry(system, mesher, bodies),
    )


def _terms(name: str, on_surface: bool, crossing: bool) -> tuple[str, ...]:
    """Energy terms: the water, its beach, moving waterlines, smoothing, new meshes, spray."""
    words = [BEACH, *[WATERLINE, SMOOTHING] * on_surface, *[MESHES, SPRAY] * crossing]
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


def panel_size(
    surface: Surface, spacing: float, accuracy: float | None = None, finer: float = 1.0
) -> float:
    """Side of panels with which a hull has some 200 of them under water, or an accuracy [m].

    Args:
        surface: its mesh in the world.
        spacing: of the free surface; panels are not larger [m].
        accuracy: asked relative error.
        finer: sizes are divided by this.
    """
    area = np.linalg.norm(surface.area_vectors, axis=1)
    under = surface.vertices[surface.triangles, 2].mean(1) < 0.0
    wet = float(area[under].sum()) or float(area.sum())
    requested = 1.0 if accuracy is None else (accuracy / ERROR) ** (2.0 / 3.0)
    return min(spacing, requested * math.sqrt(wet / PANELS) / finer)


def _finer(water: WeakScatterer, factor: float) -> WeakScatterer:
    """With spacings, and the panels that are given, so much finer."""
    sizes = ("spacing", "far_spacing", "panel_size")
    specified = {name: getattr(water, name) for name in sizes}
    specified["far_spacing"] = specified["far_spacing"] or 0.1 * water.radius
    divided = {name: value / factor for name, value in specified.items() if value is not None}
    return water.replace(**divided, levels=round(water.levels * factor), step=None)


def _floater(system: System, name: str, water: WeakScatterer, finer: float = 1.0) -> Floater:
    """A body with its mesh about the reference point."""
    body, half, size = system.body(name), water.symmetric, water.panel_size
    p, R = pose_of(system, name)
    place = tuple((p + R @ np.array(body.reference)).tolist())
    if size is None:
        size = water.spacing
        if not water.crossing:
            size = panel_size(hull_mesh(body, size).moved(place, R), size, water.accuracy, finer)
    size = _above_the_bottom(system, water, body, (place, R), size)
    surface = hull_mesh(body, size)
    z = surface.moved(place, R).vertices[:, 2]
    pierces = bool(z.min() < 0.0 < z.max())
    if half:
        _check_symmetric(name, surface, p, R)
        surface = surface if pierces else surface.half()
    return Floater(name, surface, place, R, size if pierces else None)


def _above_the_bottom(
    system: System, water: WeakScatterer, body: Body, place: tuple[Tree, np.ndarray], size: float
) -> float:
    """Size of panels with which a round hull, swelled to its volume, stays above the seabed [m].

    The size stays where that is not the matter.
    """
    bottom = -system.water.depth
    if hull_mesh(body, size).moved(*place).vertices[:, 2].min() > bottom:
        return size
    for finer in size / 1.4 ** np.arange(1, 7):
        if hull_mesh(body, finer).moved(*place).vertices[:, 2].min() > bottom:
            if water.panel_size is None:
                return float(finer)
            raise water.fail(
                f"body '{body.name}': flat panels of {size:.3g} m are swelled to the volume of "
                f"its hull and reach through the seabed at z = {bottom:g} m. Give a panel_size of "
                f"at most {finer:.2g} m."
            )
    return size


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
