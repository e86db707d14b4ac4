"""Small hydrodynamic data and files of other codes, written after their published formats."""

from pathlib import Path

import numpy as np

from swelltree.hydro.data.dataset import HydroParts, assemble, rigid_labels, wavenumber

RHO, G = 1025.0, 9.81


def made_up(bodies=("float", "spar"), modes=0, depth=30.0, headings=(0.0, 0.5, 1.2), n_omega=4):
    """Data without meaning but with every array full and different."""
    rng = np.random.default_rng(7)
    dofs = [x for body in bodies for x in rigid_labels(body, modes)]
    n = len(dofs)
    omega = np.linspace(0.5, 2.0, n_omega)
    full = np.concatenate([[0.0], omega, [np.inf]])
    base = rng.normal(size=(full.size, n, n))
    added = base @ np.swapaxes(base, 1, 2) * 1e5
    base = rng.normal(size=(full.size, n, n))
    damping = base @ np.swapaxes(base, 1, 2) * 1e4
    damping[[0, -1]] = 0.0
    shape = (n_omega, len(headings), n)
    stiffness = np.zeros((n, n))
    for k in range(len(bodies)):
        for i in (2, 3, 4):
            stiffness[k * (6 + modes) + i, k * (6 + modes) + i] = 1e6 * (i + k + 1)
    parts = HydroParts(
        list(bodies),
        dofs,
        full,
        added,
        damping,
        RHO,
        G,
        depth,
        directions=np.array(headings),
        force_omega=omega,
        attrs={"solver": "none", "format": "none"},
    )
    for name in ("Froude_Krylov_force", "diffraction_force"):
        parts.forces[name] = 1e5 * (rng.normal(size=shape) + 1j * rng.normal(size=shape))
    parts.matrices["hydrostatic_stiffness"] = stiffness
    centers = np.array([[3.0 * k, -1.0 * k, -2.0 - k] for k in range(len(bodies))])
    parts.points.update(
        rotation_center=centers,
        center_of_mass=centers,
        center_of_buoyancy=centers + [0, 0, 0.5],
        displaced_volume=np.array([500.0 + 100 * k for k in range(len(bodies))]),
    )
    return assemble(parts)


def write_wamit(data, folder: Path, stem="device", length=1.0, drift=False, header=True) -> Path:
    """The numeric files of WAMIT and a .pot file."""
    rho, g = float(data.rho), float(data.g)
    omega = data.omega.values
    dofs = [str(x).rpartition("__")[2] for x in data.influenced_dof.values]
    p = np.array([1 if dof in ("Roll", "Pitch", "Yaw") else 0 for dof in dofs])
    n = len(dofs)

    def period(w):
        return -1.0 if w == 0 else 0.0 if np.isinf(w) else 2 * np.pi / w

    lines = [" WAMIT Numeric Output -- Filename"] if header else []
    for k, w in enumerate(omega):
        for i in range(n):
            for j in range(n):
                scale = rho * length ** (3 + p[i] + p[j])
                a = data.added_mass.values[k, i, j] / scale
                row = f"{period(w): .12E} {i + 1} {j + 1} {a: .12E}"
                if 0 < w < np.inf:
                    row += f" {data.radiation_damping.values[k, i, j] / (scale * w): .12E}"
                lines.append(row)
    (folder / f"{stem}.1").write_text("\n".join(lines))
    for ending, name in ((".3", "excitation_force"), (".3fk", "Froude_Krylov_force")):
        lines = []
        for k, w in enumerate(omega):
            if not 0 < w < np.inf:
                continue
            for h, beta in enumerate(data.wave_direction.values):
                for i in range(n):
                    x = data[name].values[k, h, i].conj() / (rho * g * length ** (2 + p[i]))
                    angle = np.rad2deg(np.angle(x))
                    lines.append(
                        f"{period(w): .12E} {np.rad2deg(beta): .9E} {i + 1} {abs(x): .9E} "
                        f"{angle: .9E} {x.real: .12E} {x.imag: .12E}"
                    )
        (folder / f"{stem}{ending}").write_text("\n".join(lines))
    stiffness = data.hydrostatic_stiffness.values
    rows = [
        f"{i + 1} {j + 1} {stiffness[i, j] / (rho * g * length ** (2 + p[i] + p[j])): .12E}"
        for i in range(n)
        for j in range(n)
    ]
    (folder / f"{stem}.hst").write_text("\n".join(rows))
    names = [str(x) for x in data.body.values]
    pot = [
        "heading",
        f"{float(data.water_depth) if np.isfinite(float(data.water_depth)) else -1.0} HBOT",
        "1 1 IRAD IDIFF",
        f"{len(omega)} NPER",
        " ".join(f"{period(w):.9f}" for w in omega),
        "1 NBETA",
        "0.0",
        f"{len(names)} NBODY",
    ]
    for name, place in zip(names, data.rotation_center.values, strict=True):
        pot += [f"{name}.gdf", " ".join(map(str, place)) + " 0.0 XBODY", "1 1 1 1 1 1 IMODE"]
    (folder / f"{stem}.pot").write_text("\n".join(pot))
    return folder / f"{stem}.1"


def write_nemoh(data, folder: Path, point=(0.0, 0.0)) -> Path:
    """A NEMOH folder of version 2: Nemoh.cal, results/, mesh/."""
    (folder / "results").mkdir()
    (folder / "mesh").mkdir()
    names = [str(x) for x in data.body.values]
    text = [
        "--- Environment",
        f"{float(data.rho)} ! RHO",
        f"{float(data.g)} ! G",
        f"{float(data.water_depth)} ! DEPTH",
        f"{point[0]} {point[1]} ! XEFF YEFF",
        "--- Description of floating bodies",
        f"{len(names)} ! Number of bodies",
    ]
    for name, c in zip(names, data.rotation_center.values, strict=True):
        text += [f"--- Body {name}", f"mesh\\{name}.dat ! mesh", "4 1 ! points panels"]
        for _ in range(2):
            text.append("6")
            for kind in (1, 2):
                for axis in range(3):
                    direction = " ".join(str(x) for x in np.eye(3)[axis])
                    where = "0. 0. 0." if kind == 1 else " ".join(map(str, c))
                    text.append(f"{kind} {direction} {where} ! freedom")
        text.append("0 ! additional lines")
    count = int(np.isfinite(data.omega.values).sum()) - int((data.omega.values == 0).sum())
    text += ["--- Load cases", f"{count} 0.5 2.0 ! Number of wave frequencies, Min, Max"]
    (folder / "Nemoh.cal").write_text("\n".join(text))
    omega = data.omega.values
    rows = np.flatnonzero((omega > 0) & np.isfinite(omega))
    lines = ['VARIABLES="w (rad/s)"']
    for j in range(data.sizes["radiating_dof"]):
        lines.append(f'Zone t="Motion of body 1 in DoF {j + 1}",I={rows.size},F=POINT')
        for k in rows:
            a, b = data.added_mass.values[k, :, j], data.radiation_damping.values[k, :, j]
            numbers = np.column_stack([a, b]).reshape(-1)
            lines.append(" ".join(f"{x: .12E}" for x in (omega[k], *numbers)))
    (folder / "results" / "RadiationCoefficients.tec").write_text("\n".join(lines))
    wave = wavenumber(omega[rows], float(data.water_depth), float(data.g))
    for file, name in (
        ("ExcitationForce.tec", "excitation_force"),
        ("FKForce.tec", "Froude_Krylov_force"),
    ):
        lines = ['VARIABLES="w (rad/s)"']
        for h, beta in enumerate(data.wave_direction.values):
            title = f"force - beta = {np.rad2deg(beta):.9f} deg"
            lines.append(f'Zone t="{title}",I={rows.size},F=POINT')
            for k, wk in zip(rows, wave, strict=True):
                turn = np.exp(-1j * wk * (point[0] * np.cos(beta) + point[1] * np.sin(beta)))
                x = data[name].values[k, h] * turn
                numbers = np.column_stack([np.abs(x), np.angle(x)]).reshape(-1)
                lines.append(" ".join(f"{v: .12E}" for v in (omega[k], *numbers)))
        (folder / "results" / file).write_text("\n".join(lines))
    for k, c in enumerate(data.rotation_center.values):
        suffix = "" if len(names) == 1 else f"_{k}"
        block = data.hydrostatic_stiffness.values[6 * k : 6 * k + 6, 6 * k : 6 * k + 6]
        (folder / "mesh" / f"KH{suffix}.dat").write_text(
            "\n".join(" ".join(f"{x: .9E}" for x in row) for row in block)
        )
        cb = data.center_of_buoyancy.values[k]
        (folder / "mesh" / f"Hydrostatics{suffix}.dat").write_text(
            "\n".join(f"{a}F = {cb[i]} - {a}G = {c[i]}" for i, a in enumerate("XYZ"))
            + f"\nDisplacement = {data.displaced_volume.values[k]}\n"
        )
    return folder


def write_aqwa(data, folder: Path, listing=True) -> Path:
    """An .AH1 file and the force tables of a .LIS file; phases about each centre of gravity."""
    omega = data.omega.values
    rows = np.flatnonzero((omega > 0) & np.isfinite(omega))
    beta = data.wave_direction.values
    count = data.sizes["body"]
    text = ["* heading", "* FILE VERSION NO 5, LHFR"]
    for s in range(count):
        text.append(
            f"{s + 1} {beta.size} {rows.size} " + " ".join(f"{np.rad2deg(x):.9f}" for x in beta)
        )
        text.append(" ".join(f"{omega[k]:.9f}" for k in rows))

    def block(name, width, values):
        text.append(name)
        for s in range(count):
            text.append(f"{s + 1} " + " ".join(f"{x:.9E}" for x in values[s][:width]))

    water = [float(data.water_depth), float(data.rho), float(data.g), 0, 0]
    block("GENERAL", 5, [water] * count)
    block("COG", 3, data.center_of_mass.values)
    block("DRAFT", 1, [[5.0]] * count)
    block("COB", 3, data.center_of_buoyancy.values)
    block("DISPLACEMENT", 1, data.displaced_volume.values[:, None])

    def matrix(head, m):
        for i, row in enumerate(m):
            text.append((head if i == 0 else "") + " " + " ".join(f"{x:.9E}" for x in row))

    text.append("HYDSTIFFNESS")
    for s in range(count):
        part = slice(6 * s, 6 * s + 6)
        matrix(f"{s + 1}", data.hydrostatic_stiffness.values[part, part])
    for name, values in (("ADDEDMASS", data.added_mass), ("DAMPING", data.radiation_damping)):
        text.append(name)
        for a in range(count):
            for b in range(count):
                for w, k in enumerate(rows):
                    part = values.values[k, 6 * a : 6 * a + 6, 6 * b : 6 * b + 6]
                    matrix(f"{a + 1} {b + 1} {w + 1}", part)
    k_wave = wavenumber(omega, float(data.water_depth), float(data.g)) if rows.size else omega
    com = data.center_of_mass.values

    def at_cog(name, s, h, k):
        along = com[s, 0] * np.cos(beta[h]) + com[s, 1] * np.sin(beta[h])
        return data[name].values[k, h, 6 * s : 6 * s + 6] * np.exp(-1j * k_wave[k] * along)

    text.append("FORCERAO")
    for s in range(count):
        for h in range(beta.size):
            for w, k in enumerate(rows):
                x = at_cog("excitation_force", s, h, k)
                text.append(f"{s + 1} {h + 1} {w + 1} " + " ".join(f"{v:.9E}" for v in abs(x)))
                text.append(" ".join(f"{v:.7f}" for v in np.rad2deg(np.angle(x))))
    path = folder / "device.AH1"
    path.write_text("\n".join(text))
    if listing:
        lines = []
        titles = {
            "FROUDE KRYLOV FORCES-VARIATION WITH WAVE PERIOD/FREQUENCY": "Froude_Krylov_force",
            "DIFFRACTION FORCES-VARIATION WITH WAVE PERIOD/FREQUENCY": "diffraction_force",
        }
        for s in range(count):
            for title, name in titles.items():
                lines += [
                    f"* * H Y D R O   S T R U C T U R E   {s + 1} * *",
                    "",
                    title,
                    "PERIOD  FREQ",
                ]
                for h in range(beta.size):
                    for w, k in enumerate(rows):
                        x = at_cog(name, s, h, k)
                        pairs = np.column_stack([abs(x), np.rad2deg(np.angle(x))]).reshape(-1)
                        first = [2 * np.pi / omega[k], omega[k]]
                        first += [np.rad2deg(beta[h])] if w == 0 else []
                        lines.append(" ".join(f"{v:.9E}" for v in (*first, *pairs)))
        (folder / "device.LIS").write_text("\n".join(lines))
    return path


def write_hams(data, folder: Path) -> Path:
    """A HAMS folder: Input/ControlFile.in, Input/Hydrostatic.in, Output/Wamit_format/Buoy.*"""
    (folder / "Input").mkdir()
    output = folder / "Output" / "Wamit_format"
    output.mkdir(parents=True)
    write_wamit(data, output, "Buoy", header=False)
    (output / "Buoy.pot").unlink()
    x, y, z = data.rotation_center.values[0]
    (folder / "Input" / "ControlFile.in").write_text(
        "  ---HAMS Control file---\n\n"
        f"  Waterdepth  {float(data.water_depth)}D0\n"
        "   #Start Definition of Wave Frequencies\n"
        "    Input_frequency_type   3\n    Output_frequency_type  4\n"
        f"    Number_of_frequencies  {-len(data.omega) + 2}\n"
        f"    Reference_body_center  {x} {y} {z}\n    Reference_body_length  1.D0\n"
    )
    (folder / "Input" / "Hydrostatic.in").write_text(
        " Center of Gravity:\n "
        + " ".join(map(str, data.center_of_mass.values[0]))
        + "\n Body Mass Matrix:\n"
        + "\n".join(" ".join(f"{5e5 * x:.6E}" for x in row) for row in np.eye(6))
    )
    return folder


def write_listing(data, folder: Path) -> Path:
    """The listing of WAMIT alone, of one or more bodies, with exact phases."""
    rho, g = float(data.rho), float(data.g)
    omega, n = data.omega.values, data.sizes["influenced_dof"]
    lines = [" WAMIT  Version 7.2"]
    lines += [f" Input from Geometric Data File:  {body}.gdf" for body in data.body.values]
    lines += [
        f" Gravity:     {g:.5f}                Length scale:        1.00000",
        f" Water depth:        {float(data.water_depth)}    Water density:  {rho}",
    ]
    for k, (x, y, z) in enumerate(data.rotation_center.values):
        volume = f"{data.displaced_volume.values[k]:.6f}     "
        buoyancy = data.center_of_buoyancy.values[k] - (x, y, z)
        C = data.hydrostatic_stiffness.values[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] / (rho * g)
        lines += [
            f" XBODY = {x:.4f} YBODY = {y:.4f} ZBODY = {z:.4f} PHIBODY =   0.0",
            f" Volumes (VOLX,VOLY,VOLZ):      {3 * volume}",
            " Center of Buoyancy (Xb,Yb,Zb):  {:.6f} {:.6f} {:.6f}".format(*buoyancy),
            f" C(3,3),C(3,4),C(3,5): {C[2, 2]:.6E} {C[2, 3]:.6E} {C[2, 4]:.6E}",
            f" C(4,4),C(4,5),C(4,6): {C[3, 3]:.6E} {C[3, 4]:.6E} {C[3, 5]:.6E}",
            f"        C(5,5),C(5,6): {C[4, 4]:.6E} {C[4, 5]:.6E}",
            " Center of Gravity  (Xg,Yg,Zg):     0.000000     0.000000     0.000000",
        ]
    lines.append("                            Output from  WAMIT")
    for k, w in enumerate(omega):
        wet = 0 < w < np.inf
        name = f"(sec) = {2 * np.pi / w:.9E}" if wet else "= infinite" if w == 0 else "= zero"
        lines += [" " + "*" * 60, f" Wave period {name}    Wavenumber = something"]
        lines.append(f"    ADDED-MASS {'AND DAMPING ' if wet else ''}COEFFICIENTS")
        lines.append("     I     J         A(I,J)         B(I,J)")
        for i in range(n):
            for j in range(n):
                B = f"  {data.radiation_damping.values[k, i, j] / (rho * w):.9E}" if wet else ""
                lines.append(f" {i + 1} {j + 1} {data.added_mass.values[k, i, j] / rho:.9E}{B}")
        lines.append("")
        if not wet:
            continue
        lines.append("    DIFFRACTION EXCITING FORCES AND MOMENTS")
        for h, beta in enumerate(data.wave_direction.values):
            lines += [f"  Wave Heading (deg) :      {np.rad2deg(beta):.6f}", "", " I  Mod  Pha"]
            for i, x in enumerate(data.excitation_force.values[k, h].conj() / (rho * g)):
                lines.append(f" {i + 1}   {abs(x):.9E}   {np.rad2deg(np.angle(x)):.6f}")
            lines.append("")
    path = folder / "device.out"
    path.write_text("\n".join(lines))
    return path
