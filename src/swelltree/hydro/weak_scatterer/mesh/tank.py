"""The tank of water: free surface and wall, a closed vessel with the seabed as a mirror."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from swelltree.describe.errors import SwelltreeError
from swelltree.hydro.weak_scatterer.mesh.surface import Surface, disc, graded_radii, ring_counts


@dataclass(frozen=True)
class Tank:
    """Where the water is, and how finely its boundary is divided.

    Args:
        radius: [m].
        depth: of the flat bottom [m]; in deep water one that the disturbance does not feel.
        near: spacing of the free surface over the bodies [m].
        far: spacing at the rim [m].
        fine: radius of the part with the near spacing [m].
        symmetric: only y >= 0 is meshed, the plane y = 0 is a mirror.
        levels: steps of the wall from the surface to the bottom.
        center: x and y of its middle [m].
    """

    radius: float
    depth: float
    near: float
    far: float
    fine: float = 0.0
    symmetric: bool = False
    levels: int = 5
    center: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        for name in ("radius", "depth", "near", "far"):
            value = getattr(self, name)
            if not (value > 0.0 and np.isfinite(value)):
                raise SwelltreeError(f"tank: {name} {value} m is not positive. Give metres.")
        if self.near > self.far or self.far > self.radius:
            raise SwelltreeError(
                f"tank: spacings near {self.near} m and far {self.far} m and radius {self.radius} "
                "m do not grow in this order. Give near <= far <= radius."
            )
        if self.symmetric and self.center[1] != 0.0:
            raise SwelltreeError(
                f"tank: its centre is at y = {self.center[1]} m, off the plane of symmetry. "
                "Give y = 0 or symmetric=False."
            )

    def checked_inside(self, name: str, vertices: np.ndarray, pierces: bool = False) -> None:
        """Reject a body that is not in the water of the tank.

        Args:
            name: of the body.
            vertices: of its mesh in the world, (n, 3) [m].
            pierces: it floats on the surface; else it must be wholly under water.
        """
        reach = np.hypot(*(vertices[:, :2] - self.center).T).max()
        if reach >= self.radius:
            raise SwelltreeError(
                f"body '{name}' lies outside the tank: it reaches {reach:.4g} m from the middle, "
                f"the radius is {self.radius:g} m. Give a wider tank or move its center."
            )
        low, high = vertices[:, 2].min(), vertices[:, 2].max()
        if low <= -self.depth:
            raise SwelltreeError(
                f"body '{name}' lies outside the tank: it reaches down to z = {low:.4g} m, the "
                f"bottom lies at z = {-self.depth:g} m. Raise the body or deepen the tank."
            )
        if pierces and not low < 0.0 < high:
            raise SwelltreeError(
                f"body '{name}' reaches from z = {low:.4g} m to {high:.4g} m and does not pierce "
                "the surface. Move it to where it floats, or wholly under water."
            )
        if not pierces and low >= 0.0:
            raise SwelltreeError(
                f"body '{name}' is dry: its lowest point lies at z = {low:.4g} m. Name it in "
                f"crossing=('{name}',) if it comes into the water, leave it out of bodies if it "
                "does not, or lower it."
            )
        if not pierces and high >= 0.0:
            raise SwelltreeError(
                f"body '{name}' reaches up to z = {high:.4g} m, and ends neither under the still "
                "water nor above it. Lower it to keep it under water, or raise it to float."
            )
        if self.symmetric and not pierces and vertices[:, 1].min() < 0.0:
            raise SwelltreeError(
                f"body '{name}': its mesh reaches y = {vertices[:, 1].min():.4g} m in a tank with "
                "the plane of symmetry y = 0. Give its half with y >= 0 or symmetric=False."
            )


def free_surface(tank: Tank) -> Surface:
    """Mesh of the still surface over bodies under water, normals up, rim last."""
    half, place = tank.symmetric, (*tank.center, 0.0)
    radii = graded_radii(tank.near, tank.fine, tank.far, tank.radius)
    return disc(radii, ring_counts(radii, half), half).moved(place)


def wall(tank: Tank, surface: Surface) -> tuple[np.ndarray, np.ndarray]:
    """Vertices of the wall below the rim, and triangles with normals outwards.

    Triangles number the vertices of the free surface first, then those of the wall.
    """
    away = np.hypot(*(surface.vertices[:, :2] - tank.center).T)
    count = int((away > (1.0 - 1e-9) * tank.radius).sum())
    n = len(surface.vertices)
    rim = surface.vertices[n - count :]
    # finer towards the surface, where waves are felt
    part = np.linspace(0.0, 1.0, tank.levels + 1)[1:]
    heights = -tank.depth * (0.5 * part + 0.5 * part**2)
    points = np.concatenate([rim + [0.0, 0.0, z] for z in heights])
    index = np.arange(n - count, n + len(points)).reshape(-1, count)
    if tank.symmetric:
        here, ahead = index[:, :-1], index[:, 1:]
    else:
        here, ahead = index, np.roll(index, -1, axis=1)
    one = np.stack([here[:-1], here[1:], ahead[1:]], -1).reshape(-1, 3)
    two = np.stack([here[:-1], ahead[1:], ahead[:-1]], -1).reshape(-1, 3)
    return points, np.concatenate([one, two])
