"""Regenerate `two_boxes.npz`: radiation of the two barges of Table I (hinge-barge-tank case).

Boxes 1.1 x 0.67 m, draft 0.37 m at x = 0 and 2.5 x 0.64 m, draft 0.08 m at x = 2.26 m, side by
side in
deep fresh water. Needs Capytaine 3 (`pip install 'swelltree[bem]'`); takes half a minute on one
core:

    python tests/hydro/data/make_two_boxes.py
"""

from pathlib import Path

import capytaine as cpt
import numpy as np

PANEL = 0.105  # side of a panel [m]: 392 panels and 282 on the lids
BOXES = {  # length, width, draft, x, z of the centre of mass [m]
    "barge1": (1.10, 0.67, 0.37, 0.0, -0.084),
    "barge2": (2.50, 0.64, 0.08, 2.26, -0.0175),
}


def box(name: str) -> cpt.FloatingBody:
    """One barge: the wetted part of a box with a lid against irregular frequencies."""
    length, width, draft, x, z = BOXES[name]
    cells = (round(length / PANEL), round(width / PANEL), max(2, 2 * round(draft / PANEL)))
    mesh = cpt.mesh_parallelepiped(
        size=(length, width, 2 * draft), resolution=cells, center=(x, 0, 0), name=name
    ).immersed_part()
    return cpt.FloatingBody(
        mesh=mesh,
        lid_mesh=mesh.generate_lid(z=-0.01, faces_max_radius=PANEL / 2),
        dofs=cpt.rigid_body_dofs(rotation_center=(x, 0, z)),
        center_of_mass=(x, 0, z),
        name=name,
    )


def main() -> None:
    """Solve every frequency and store matrices as float32 in SI units."""
    bodies = [box(name) for name in BOXES]
    both = cpt.Multibody(bodies)
    solver = cpt.BEMSolver(green_function=cpt.LiangWuNoblesseGF(), method="direct")
    omega = np.append(np.linspace(0.3, 9.0, 40), np.inf)
    problems = [
        cpt.RadiationProblem(
            body=both, omega=w, radiating_dof=dof, water_depth=np.inf, rho=1000.0, g=9.81
        )
        for w in omega
        for dof in both.dofs
    ]
    data = cpt.assemble_dataset(solver.solve_all(problems, progress_bar=False))
    labels = [
        f"{n}__{d}" for n in BOXES for d in ("Surge", "Sway", "Heave", "Roll", "Pitch", "Yaw")
    ]
    data = data.sel(influenced_dof=labels, radiating_dof=labels).sortby("omega")
    axes = ("omega", "influenced_dof", "radiating_dof")
    A = data["added_mass"].transpose(*axes).to_numpy()
    B = data["radiation_damping"].transpose(*axes).to_numpy()
    finite = np.isfinite(data["omega"].to_numpy())
    np.savez_compressed(
        Path(__file__).with_name("two_boxes.npz"),
        omega=data["omega"].to_numpy()[finite],
        added_mass=A[finite].astype(np.float32),
        radiation_damping=B[finite].astype(np.float32),
        added_mass_inf=A[~finite][0].astype(np.float32),
        dof=np.array(labels),
    )


if __name__ == "__main__":
    main()
