"""Meshes of a run in which bodies cross the surface, made again where they must be.

A mesh follows from a reference alone: of each body whether it is dry, cut by the surface or under
it, and a pose, lowered by the height of the wave there. So a state of a run needs to hold nothing
but the reference, and a run that goes on from a file finds the same mesh.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from swelltree.describe.environment.water import Water
from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.weak_scatterer.mesh.tank import Tank
from swelltree.hydro.weak_scatterer.motion.meshed import Floater
from swelltree.hydro.weak_scatterer.motion.padding import Sizes, padded, sizes_of, with_padding
from swelltree.hydro.weak_scatterer.motion.scene import Scene, plain_scene
from swelltree.jit import Array, Tree, jax, jnp

DRY, CUT, UNDER = 0.0, 1.0, 2.0
ENTERING = 3.0  # in results: dry for the mesh, and in the water
CACHE_SIZE = 8  # meshes in memory
COARSER, TRIES = 1.08, 8  # spacing of the free surface where a mesh finds no room
IN, OUT = 0.5, 0.3  # depth of the lowest point over the panel size: wet below IN, dry above OUT
SHUT, OPEN = 0.1, 0.15  # highest point over the height of the body: under water below, cut above
COVER = 0.3  # of the panel size: water over bodies under the surface, at least


class Memory:
    """What a mesher remembers, and no part of what it is: of two runs each has its own.

    A copy begins empty, and so counts for nothing where the content of a run is asked for: else a
    run that goes on from a file would be another one than that which wrote it.
    """

    def __init__(self) -> None:
        self.values: dict[object, Any] = {}

    def __reduce__(self) -> tuple[type[Memory], tuple[()]]:
        return Memory, ()


@dataclass(frozen=True, eq=False)
class Mesher:
    """What meshes are made from.

    Args:
        tank: free surface and wall.
        floaters: all bodies, with their whole hulls.
        water: rho and g.
        mode: of the weak scatterers.
        beach: damping at the rim [1/s].
        beach_from: where the beach begins [m].
        size: of panels [m].
        crossing: numbers of the bodies that may cross the surface.
        rings: {body that may pierce it: steps of its mesh from keel to waterline}.
        sizes: room of all meshes.
        known: meshes made last, and why one could not be made.
    """

    tank: Tank
    floaters: tuple[Floater, ...]
    water: Water
    mode: str
    beach: float
    beach_from: float | None
    size: float
    crossing: tuple[int, ...]
    rings: tuple[tuple[int, int], ...]
    sizes: Sizes | None = None
    known: Memory = field(default_factory=Memory, repr=False)

    @property
    def key(self) -> str:
        if "key" not in self.known.values:
            digest = hashlib.sha256(repr((self.tank, self.water, self.mode, self.beach)).encode())
            digest.update(repr((self.beach_from, self.size, self.crossing, self.sizes)).encode())
            for floater in self.floaters:
                digest.update(floater.surface.vertices.tobytes())
                digest.update(np.asarray(floater.position, float).tobytes())
            self.known.values["key"] = digest.hexdigest()
        return self.known.values["key"]

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Mesher) and self.key == other.key

    # --- references

    def reference(self, states: Tree, position: Array, rotation: Array) -> np.ndarray:
        """Of bodies in given states at given poses (body, 13)."""
        n = len(self.floaters)
        parts = [np.reshape(x, (n, -1)) for x in (states, position, rotation)]
        return np.concatenate(parts, axis=1).astype(float)

    def described(self) -> np.ndarray:
        """Reference of the bodies as they are described."""
        turns = [np.eye(3) if f.rotation is None else f.rotation for f in self.floaters]
        return self.at_rest([f.position for f in self.floaters], turns)

    def at_rest(self, position: Array, rotation: Array) -> np.ndarray:
        """Reference of bodies at poses in still water."""
        states = []
        for number, (floater, p, R) in enumerate(
            zip(self.floaters, position, rotation, strict=True)
        ):
            z = floater.surface.moved(p, R).vertices[:, 2]
            state = DRY if z.min() > -IN * self.size else CUT
            state = UNDER if z.max() < SHUT * np.ptp(z) else state
            if number not in self.crossing and state == DRY:
                raise SwelltreeError(
                    f"body '{floater.name}' is above the water, which it may not cross. Name it in "
                    "crossing."
                )
            states.append(state)
        return self.reference(states, position, rotation)

    # --- meshes

    def plain(self, reference: np.ndarray, coarser: float = 1.0) -> tuple[Scene, list[int]]:
        half = self.tank.symmetric
        steps = dict(self.rings)
        bodies, active, over = [], [], []
        for number, (floater, row) in enumerate(zip(self.floaters, reference, strict=True)):
            state, place, turn = row[0], row[1:4], row[4:].reshape(3, 3)
            placed = replace(floater, position=tuple(place.tolist()), rotation=turn)
            if state == CUT:
                placed = replace(placed, meridians=self.size, rings=steps[number])
            elif number in self.crossing:
                over.append(_outline(placed.placed.vertices[:, :2]))
            if state == UNDER:
                surface = floater.surface.half() if half else floater.surface
                # where the top is still above the water it is flattened, not rejected
                top = (surface.vertices @ turn.T)[:, 2].max() + place[2]
                lower = place - [0.0, 0.0, max(0.0, top + COVER * self.size)]
                placed = replace(placed, surface=surface, position=tuple(lower.tolist()))
            if state != DRY:
                bodies.append(placed)
                active.append(number)
        tank = replace(self.tank, near=min(self.tank.near * coarser, self.tank.far))
        scene = plain_scene(
            tank, bodies, self.water, self.mode, beach=self.beach, beach_from=self.beach_from,
            over=over,
        )  # fmt: skip
        return scene, active

    def with_sizes(self) -> Mesher:
        """With room for its bodies dry, cut through their middle, under the water, as described."""
        first = self.described()
        meshes = [first]
        for number in self.crossing:
            z = self.floaters[number].placed.vertices[:, 2]
            shallow = (CUT, -z.min() - IN * self.size), (CUT, -z.max() + SHUT * np.ptp(z))
            deep = (CUT, -z.mean()), (UNDER, -z.max() - self.size)
            for state, shift in ((DRY, 0.0), *shallow, *deep):
                row = first.copy()
                row[number, 0] = state
                row[number, 3] += shift
                meshes.append(row)
        steps = dict(self.rings)
        found = [self.plain(row) for row in meshes]
        n = len(self.floaters)
        return replace(
            self, sizes=with_padding([sizes_of(*each, steps, n) for each in found]), known=Memory()
        )

    def scene(self, reference: np.ndarray) -> Scene:
        """The mesh of a reference, with room to spare; coarser where it finds none."""
        assert self.sizes is not None
        reference = np.asarray(reference, float)
        name = reference.tobytes()
        if name not in self.known.values:
            factor = 1.0
            for _ in range(TRIES):
                built, active = self.plain(reference, factor)
                sizes = sizes_of(built, active, dict(self.rings), len(self.floaters))
                if self.sizes.holds(sizes):
                    break
                factor *= COARSER
            else:
                raise SwelltreeError(
                    "weak scatterers: a mesh could not be placed. Give a larger spacing."
                )
            old = [key for key in self.known.values if isinstance(key, bytes)]
            for key in old[: max(0, len(old) - CACHE_SIZE + 1)]:
                self.known.values.pop(key, None)
            self.known.values[name] = padded(built, active, self.sizes, COVER * self.size)
        return self.known.values[name]

    def traced(self, template: Scene, reference: Array) -> Scene:
        """The mesh of a reference that is known only while a program runs.

        A mesh that cannot be made is NaN: the run ends, and `trouble` says why.
        """
        leaves, tree = jax.tree.flatten(template)
        shapes = [jax.ShapeDtypeStruct(jnp.shape(x), jnp.result_type(x)) for x in leaves]

        def built(row: Array) -> list[np.ndarray]:
            try:
                found = jax.tree.leaves(self.scene(np.asarray(row)))
            except (SwelltreeError, ValueError, IndexError, np.linalg.LinAlgError) as error:
                self.known.values["trouble"] = str(error)
                found = [
                    np.full(x.shape, np.nan if x.dtype.kind == "f" else 0, x.dtype) for x in shapes
                ]
            return [np.asarray(x, s.dtype) for x, s in zip(found, shapes, strict=True)]

        result = jax.pure_callback(built, shapes, reference, vmap_method="sequential")
        return jax.tree.unflatten(tree, result)

    @property
    def trouble(self) -> str:
        """Why a mesh could not be made; empty: none failed."""
        return self.known.values.get("trouble", "")


def _outline(places: np.ndarray) -> np.ndarray:
    """An ellipse around places in plan (k, 2) [m]."""
    low, high = places.min(0), places.max(0)
    angle = 2.0 * np.pi * np.arange(24) / 24
    return 0.5 * (low + high) + 0.5 * (high - low) * np.stack([np.cos(angle), np.sin(angle)], -1)
