"""`hydro_report`: what is wrong with hydrodynamic data, what it does, and what to do about it.

Every check compares the data with something they must satisfy: Newton's third law of waves
(symmetry), energy (damping and Haskind's relation), causality (Kramers-Kronig), the limit of long
waves. A check that the data do not allow says so as a note.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from swelltree.describe.errors import RANK, Finding, SwelltreeError, listed
from swelltree.hydro.data.dataset import (
    DOFS,
    FORCE,
    RADIATION,
    complete,
    finite_rows,
    infinite_added_mass,
    nan_rows,
    split_label,
)
from swelltree.hydro.data.mirrored import UNEQUAL, asymmetry
from swelltree.hydro.data.relations import (
    A_INF,
    RESIDUAL,
    Table,
    axisymmetric,
    circle_weights,
    haskind_damping,
    infinite_from_ogilvie,
    infinite_tail,
    is_tail_known,
    outliers,
    shared_jumps,
    table_of,
)

if TYPE_CHECKING:
    import xarray as xr

    from swelltree.describe.environment.water import Water


def hydro_report(data: xr.Dataset, dofs: Sequence[str] | None = None) -> list[Finding]:
    """Findings about hydrodynamic data, the most serious first.

    Args:
        data: as `read_hydro` or `run_bem` give them.
        dofs: labels of the degrees of freedom that matter, such as those that the joints of a
            model leave free; all if not given.
    """
    absent = [name for name in NEEDED if name not in data]
    if absent:
        raise SwelltreeError(
            f"hydro_report: the data have no {listed(absent)}, so they cannot be checked. Give "
            "data "
            "as read_hydro and run_bem return them."
        )
    findings = _missing(data)
    full = finite_rows(complete(data))
    if full.sizes["omega"] < 2:
        findings.append(
            Finding(
                "error",
                "frequencies",
                f"only {full.sizes['omega']} finite frequencies are complete; nothing can be "
                "interpolated. Recompute with a range of frequencies.",
            )
        )
        return findings
    every = table_of(full)
    findings += _long_waves(every)
    if dofs is not None:
        free = [str(label) for label in data["influenced_dof"].values if label in dofs]
        if not free:
            return sorted(findings, key=lambda finding: RANK[finding.severity])
        data, full = (x.sel(influenced_dof=free, radiating_dof=free) for x in (data, full))
    table = table_of(full)
    infinite = infinite_added_mass(data)
    for check in (_symmetry, _passivity, _spikes):
        findings += check(table)
    findings += _band_edge(table, infinite)
    findings += _haskind(table, every)
    findings += _causality(table, infinite)
    findings += residual_findings(data)
    findings += _one_sided(data)
    if "far_field_residual" in data:  # the same check without headings all round
        findings = [x for x in findings if (x.code, x.severity) != ("haskind", "note")]
    return sorted(findings, key=lambda finding: RANK[finding.severity])


SLOPE = 0.3  # of the stiffness: waves whose force has fallen further are not long
OF_BAND = 0.03  # of the largest value of the band: a smaller error is a note
NEEDED = ("added_mass", "radiation_damping", "rotation_center", "rho", "g")


def warnings_about(
    data: xr.Dataset, who: str, apart: tuple[str, ...] = (), dofs: Sequence[str] | None = None
) -> list[str]:
    """Messages of the warnings about data; what the report calls an error is raised.

    Args:
        data: hydrodynamic data; those without the points of their bodies cannot be judged.
        who: begins the message.
        apart: codes of findings that do not matter here.
        dofs: labels of the degrees of freedom that matter; all if not given.
    """
    if any(name not in data for name in (*NEEDED, "water_depth")):
        return []
    result = [finding for finding in hydro_report(data, dofs) if finding.code not in apart]
    for finding in result:
        if finding.severity == "error":
            raise SwelltreeError(f"{who}: {finding.sentence}")
    return [f"{who}: {one.sentence}" for one in result if one.severity == "warning"]


def water_findings(data: xr.Dataset, water: Water) -> list[Finding]:
    """Where the data were computed for other water than the model's.

    Args:
        data: hydrodynamic data.
        water: of the system.
    """
    findings = []
    for name, there, here, limit in (
        ("rho", float(data["rho"]), water.rho, 1e-3),
        ("g", float(data["g"]), water.g, 2e-3),
        ("depth", float(data["water_depth"]), water.depth, 1e-2),
    ):
        if there == here or abs(there - here) <= limit * min(abs(here), abs(there)):
            continue
        if name == "depth" and _deep(data, min(there, here)):
            text = f"all waves of the data are deep in both ({here:g} and {there:g} m)"
            findings.append(Finding("note", "water", f"depth differs, but {text}."))
            continue
        findings.append(
            Finding(
                "error",
                "water",
                f"the data were computed with {name} = {there:g}, the system has {here:g}: forces "
                f"would be wrong in this proportion. Set Water({name}={there:g}) or recompute.",
                {"data": there, "system": here},
            )
        )
    return findings


def _deep(data: xr.Dataset, depth: float) -> bool:
    omega = data["omega"].values
    low = omega[omega > 0].min()
    return bool(np.isinf(depth) or low**2 / float(data["g"]) * depth > np.pi)


def _missing(data: xr.Dataset) -> list[Finding]:
    findings = []
    bad = nan_rows(data)
    if bad.size:
        findings.append(
            Finding(
                "error",
                "nan",
                f"NaN at {bad.size} frequencies ({_few(bad)} rad/s): the solver failed there, or "
                "rows are absent. Read the data with gaps='interpolate' or gaps='drop', or "
                "recompute them.",
                {"count": bad.size, "lowest": float(bad.min()), "highest": float(bad.max())},
            )
        )
    if infinite_added_mass(data) is None:
        findings.append(
            Finding(
                "note",
                "no_infinite",
                "no added mass at omega = inf: it will be taken from Ogilvie's relation, with the "
                "scatter given below. Compute omega = inf for an exact value.",
            )
        )
    if np.isnan(data["rotation_center"].values).any():
        findings.append(
            Finding(
                "warning",
                "reference_point",
                "the data do not state the points their DOFs refer to: rotations and moments "
                "cannot be moved to the bodies. Give rotation_center={body: (x, y, z)}.",
            )
        )
    if "excitation_force" not in data:
        findings.append(
            Finding("warning", "no_excitation", "no excitation forces: waves exert no forces.")
        )
    if "hydrostatic_stiffness" not in data:
        findings.append(
            Finding(
                "note",
                "no_stiffness",
                "no hydrostatic stiffness: it must come from the hull or be given.",
            )
        )
    return findings


def _symmetry(table: Table) -> list[Finding]:
    findings = []
    for name, values in (("added mass", table.added_mass), ("damping", table.damping)):
        scale = table.scale(values)
        gap = np.abs(values - np.swapaxes(values, 1, 2)) / (scale[:, None] * scale[None])
        worst = float(gap.max())
        if worst > RESIDUAL:
            w, i, j = np.unravel_index(int(gap.argmax()), gap.shape)
            findings.append(
                Finding(
                    "warning",
                    "symmetry",
                    f"{name} of {table.dofs[i]} and {table.dofs[j]} differs from its mirror entry "
                    f"by {worst:.1%} of the diagonal at {table.omega[w]:.3g} rad/s: an "
                    "unsymmetric part creates or dissipates energy. The symmetric part is used; "
                    "refine the mesh if "
                    "this pair matters.",
                    {"asymmetry": worst, "omega": float(table.omega[w])},
                )
            )
    return findings


def _passivity(table: Table) -> list[Finding]:
    """B has no negative eigenvalue: moving bodies cannot take energy from calm water."""
    scale = table.scale(table.damping)
    B = 0.5 * (table.damping + np.swapaxes(table.damping, 1, 2)) / (scale[:, None] * scale[None])
    values = np.linalg.eigvalsh(B)
    # small errors of many entries add up, and so does what many bodies radiate together
    lowest, largest = values[:, 0], max(float(values[:, -1].max()), 1e-300)
    worst = float(-lowest.min() / largest)
    if worst < 1e-3:
        return []
    bad = table.omega[lowest < -1e-3 * largest]
    peak = float(table.omega[int(lowest.argmin())])
    diagonal = np.diagonal(B, axis1=1, axis2=2)[int(lowest.argmin())]
    dof = table.dofs[int(diagonal.argmin())]
    where = f" (most in {dof})" if diagonal.min() < 0 else " (between DOFs)"
    return [
        Finding(
            "error" if worst > 0.2 else "warning" if worst > 1e-2 else "note",
            "passivity",
            f"damping has a negative eigenvalue of {worst:.2%} of the largest one at "
            f"{peak:.3g} rad/s{where}, and negative ones at {bad.size} frequencies from "
            f"{bad.min():.3g} to {bad.max():.3g} rad/s: the water would accelerate a moving body. "
            "Leave "
            "these frequencies out, refine the mesh or add a lid, or use a passive fit.",
            {"negative": worst, "omega": peak, "from": float(bad.min()), "to": float(bad.max())},
        )
    ]


def _long_waves(table: Table) -> list[Finding]:
    """Long waves lift a body like a slowly rising water level and push it along the slope."""
    if table.excitation is None or table.headings is None:
        return []
    findings = []
    k, omega = table.wavenumber[0], table.omega[0]
    for body in table.bodies:
        heave, surge = table.index(body, "Heave"), table.index(body, "Surge")
        sway = table.index(body, "Sway")
        stiffness = 0.0
        if table.stiffness is not None and heave is not None:
            stiffness = float(table.stiffness[heave, heave])
        area = stiffness / (table.rho * table.g)
        volume = table.volumes.get(body, np.nan)
        size = max(np.sqrt(max(area, 0.0) / np.pi), np.cbrt(volume) if volume > 0 else 0.0)
        if (
            heave is not None
            and area > 1e-9
            and k * size < 0.05
            and table.wavenumber[1] * size < 0.2
        ):
            findings += _lifted(table, body, heave, stiffness)
        if surge is None or sway is None or k * max(size, 1e-9) > 0.2:
            continue
        # push along the waves, with the phase at the body
        beta = table.headings
        x, y = table.centers[body][:2]
        if not np.isfinite([x, y]).all():
            continue  # the phase at the body is not known
        phase = np.exp(-1j * k * (x * np.cos(beta) + y * np.sin(beta)))
        force = table.excitation[0]
        push = (force[:, surge] * np.cos(beta) + force[:, sway] * np.sin(beta)) * phase
        if push.imag.mean() > 0.5 * np.abs(push).mean():
            findings.append(
                Finding(
                    "error",
                    "phase_sense",
                    f"surge of {body} in the longest wave ({omega:.3g} rad/s) leads the crest: the "
                    "phases are those of exp(+iwt), and every phase would be reversed. Conjugate "
                    "the forces.",
                )
            )
        if table.froude_krylov is not None and volume > 0 and k * size < 0.05:
            fk = table.froude_krylov[0]
            ratio = float(
                np.abs(fk[:, surge] * np.cos(beta) + fk[:, sway] * np.sin(beta)).mean()
                / (table.rho * table.g * k * volume)
            )
            if abs(ratio - 1) > 0.05:
                findings.append(
                    Finding(
                        "warning",
                        "long_wave",
                        f"Froude-Krylov surge of {body} in the longest wave is {ratio:.3g} times "
                        "rho g k V: displaced volume, rho or g belong to another body or run. "
                        f"Check the volume ({volume:.5g} m^3).",
                        {"ratio": ratio},
                    )
                )
    return findings


def _lifted(table: Table, body: str, heave: int, stiffness: float) -> list[Finding]:
    findings = []
    for name, force in (("excitation", table.excitation), ("Froude-Krylov", table.froude_krylov)):
        if force is None:
            continue
        # long waves fall off with omega^2, deep or shallow: take that slope out
        first, second = np.abs(force[:2, :, heave]).mean(axis=1) / stiffness
        w = table.omega[:2] ** 2
        fall = w[0] * (second - first) / (w[1] - w[0])
        if abs(fall) > SLOPE:
            continue  # a deep plate feels even these waves more than the waterline does
        ratio = float(first - fall)
        if abs(ratio - 1) > 0.05:
            findings.append(
                Finding(
                    "warning",
                    "long_wave",
                    f"heave {name} of {body} in the longest wave ({table.omega[0]:.3g} rad/s) is "
                    f"{ratio:.3g} times the stiffness rho g Awp, and should equal it: stiffness "
                    "and forces are of different meshes, rho or g. Recompute the stiffness "
                    "from the wetted mesh.",
                    {"ratio": ratio},
                )
            )
    return findings


def _haskind(table: Table, every: Table) -> list[Finding]:
    """Radiated power from the forces of waves of all headings equals the damping."""
    if table.excitation is None or table.headings is None:
        return []
    weights = circle_weights(table.headings)
    round_ = weights is None and axisymmetric(every)
    if weights is None and not round_:
        return [
            Finding(
                "note",
                "haskind",
                f"{table.headings.size} headings do not cover the circle, so damping could not be "
                "checked against excitation (Haskind). Compute headings over 360 degrees in "
                "steps of 30 "
                "degrees or less.",
            )
        ]
    worst: list[tuple[float, str]] = []
    checked = 0
    for i, label in enumerate(table.dofs):
        if round_ and split_label(label)[1] not in ("Surge", "Heave", "Pitch"):
            continue
        B = table.damping[:, i, i]
        top = float(np.abs(B).max())
        if top < 1e-3 * table.scale(table.damping)[i] ** 2:
            continue
        expected, resolved = haskind_damping(table, i, weights)
        strong = resolved & (0.1 * top < B)
        if strong.sum() < 3:
            continue
        checked += 1
        error = float(np.median(np.abs(expected[strong] / B[strong] - 1)))
        if error > 0.05:
            worst.append((error, label))
    if not checked:
        text = "headings are too coarse to check damping against excitation (Haskind)."
        return [Finding("note", "haskind", text)]
    if not worst:
        return []
    error, label = max(worst)
    more = f" and of {len(worst) - 1} other DOFs" if len(worst) > 1 else ""
    return [
        Finding(
            "warning",
            "haskind",
            f"damping of {label}{more} and the excitation force differ by up to {error:.1%} "
            "(median over the strong part of the band) in Haskind's relation: one of them has "
            "this error, and so does the absorbed power. Refine the mesh.",
            {"difference": error, "freedoms": len(worst)},
        )
    ]


def _one_sided(data: xr.Dataset) -> list[Finding]:
    """Message about headings on one side only, of symmetric data."""
    if "excitation_force" not in data or data.sizes["wave_direction"] < 2:
        return []
    beta = np.sin(data["wave_direction"].values)
    if (beta > 1e-6).any() == (beta < -1e-6).any():
        return []
    off = asymmetry(data)
    if off is None or not off <= UNEQUAL:
        return []
    return [
        Finding(
            "note",
            "one_sided",
            "all headings lie on one side and the data are the same on port and starboard: "
            "mirror_headings(data) gives those of the other side.",
            {"asymmetry": off},
        )
    ]


RESIDUALS = {
    "haskind_residual": "excitation from pressures and from the waves it makes (Haskind)",
    "far_field_residual": "damping from pressures and from the waves far away",
}


def contradictions(data: xr.Dataset, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Residuals above the limit, and those of them that matter, (omega, influenced_dof) bool.

    An error counts where it is large beside the force or damping at that frequency and beside the
    largest of the band: a sea moves the body by both.

    Args:
        data: of `run_bem`, with its residuals.
        name: of the residual.
    """
    values = np.nan_to_num(data[name].transpose("omega", "influenced_dof").values)
    large = np.round(values, 4) > RESIDUAL  # as the gallery stores them
    labels = [str(label) for label in data["influenced_dof"].values]
    if name == "haskind_residual":
        force = data["excitation_force"].transpose(*FORCE).values
        size = np.abs(force).max(axis=1)
    else:
        matrix = data["radiation_damping"].transpose(*RADIATION).values
        size = np.abs(np.diagonal(matrix, axis1=1, axis2=2))
    size = np.where(np.isfinite(size), size, 0.0)
    turns = np.array([split_label(label)[1] in DOFS[3:] for label in labels])
    for kind in (turns, ~turns):  # what nearly vanishes is measured by its like
        if kind.any():
            size[:, kind] = np.maximum(size[:, kind], 0.1 * size[:, kind].max(axis=1)[:, None])
    top = size.max(axis=0, initial=0.0)
    of_band = values * np.divide(size, top, out=np.ones_like(size), where=top > 0.0)
    return large, large & (of_band > OF_BAND)


def residual_findings(data: xr.Dataset) -> list[Finding]:
    """Where a BEM run contradicts itself by more than a few per cent, by degree of freedom.

    What is small beside the largest value of the band is a note.
    """
    findings = []
    for name, relation in RESIDUALS.items():
        if name not in data:
            continue
        values = np.nan_to_num(data[name].transpose("omega", "influenced_dof").values)
        large, matters = contradictions(data, name)
        for severity, hit, about in (
            ("warning", matters, "results are off by about that much there. Give smaller panels, "),
            (
                "note",
                large & ~matters,
                f"there they are small, the error is below {OF_BAND:.0%} of the largest of the "
                "band. Give smaller panels, ",
            ),
        ):
            if not hit.any():
                continue
            rows, columns = hit.any(axis=1), hit.any(axis=0)
            omega, labels = data["omega"].values, data["influenced_dof"].values
            w, i = np.unravel_index(int(np.where(hit, values, 0.0).argmax()), values.shape)
            others = [str(x) for x in labels[columns] if x != labels[i]]
            also = f" (also {_few_names(others)})" if others else ""
            findings.append(
                Finding(
                    severity,
                    name,
                    f"{relation} of {labels[i]}{also} differ by up to {values[w, i]:.0%}, at "
                    f"{omega[w]:.3g} rad/s, and by more than {RESIDUAL:.0%} at {int(rows.sum())} "
                    f"frequencies ({_few(omega[rows])} rad/s): {about}or leave these frequencies "
                    "out.",
                    {"difference": float(values[w, i]), "omega": float(omega[w])},
                )
            )
    return findings


def _causality(table: Table, infinite: np.ndarray | None) -> list[Finding]:
    """Kramers-Kronig: added mass follows from damping, but for A_inf (Ogilvie)."""
    mean, scatter = infinite_from_ogilvie(table.omega, table.added_mass, table.damping)
    top = np.abs(np.diagonal(table.added_mass, axis1=1, axis2=2)).max(axis=0)
    damping = np.abs(np.diagonal(table.damping, axis1=1, axis2=2)).max(axis=0)
    matters = (damping > 1e-3 * table.scale(table.damping) ** 2) & (top > 0)
    findings = []
    relative = np.where(matters, scatter / np.where(top > 0, top, 1.0), 0.0)
    worst = int(relative.argmax())
    if relative[worst] > 0.03:
        findings.append(
            Finding(
                "warning",
                "kramers_kronig",
                f"added mass of {table.dofs[worst]} rebuilt from its damping (Ogilvie) scatters by "
                f"{relative[worst]:.1%}: frequencies are too few, stop too early or are disturbed, "
                "and retardation functions inherit that. Add frequencies, or compute omega = inf.",
                {"scatter": float(relative[worst])},
            )
        )
    if infinite is not None:
        diagonal = np.diagonal(infinite)
        # a damping that stays at its last value takes three times this tail from the mean
        over, tail = mean - diagonal, infinite_tail(table.omega, table.damping)
        over = np.where(over > 0, np.maximum(over - 3.0 * tail, 0.0), -over)
        gap = np.where(matters, over / np.where(top > 0, top, 1.0), 0.0)
        worst = int(gap.argmax())
        if gap[worst] > A_INF:
            findings.append(
                Finding(
                    "warning",
                    "a_inf",
                    f"A_inf of {table.dofs[worst]} is {diagonal[worst]:.4g}, but added mass and "
                    f"damping give {mean[worst]:.4g}: motions at high frequency would be off. "
                    "Extend the band, or check omega = inf.",
                    {"given": float(diagonal[worst]), "ogilvie": float(mean[worst])},
                )
            )
    else:
        share = relative[matters].max() if matters.any() else 0.0
        findings.append(
            Finding(
                "note",
                "a_inf",
                f"A_inf from Ogilvie's relation scatters by at most {share:.2%} of the added mass.",
                {"scatter": float(share)},
            )
        )
    return findings


def _spikes(table: Table) -> list[Finding]:
    """Irregular frequencies: added mass and damping jump together at single frequencies."""
    if table.omega.size < 40:
        return []
    A = np.diagonal(table.added_mass, axis1=1, axis2=2)
    B = np.diagonal(table.damping, axis1=1, axis2=2)
    hit = outliers(A, 0.02) & outliers(B, 0.05)
    # DOFs without damping of their own have nothing to jump
    hit &= np.abs(B).max(axis=0) > 1e-3 * table.scale(table.damping) ** 2
    hit &= ~shared_jumps(table)  # a resonance of the water between bodies is true
    if not hit.any():
        return []
    rows, columns = hit.any(axis=1), hit.any(axis=0)
    names = [label for label, bad in zip(table.dofs, columns, strict=True) if bad]
    omega = table.omega[rows]
    return [
        Finding(
            "warning",
            "irregular",
            f"added mass and damping jump together near {_few(omega)} rad/s ({_few_names(names)}): "
            "irregular frequencies or too few panels, seen as ringing in retardation functions. "
            "Recompute with a lid (IRR=1), or leave these frequencies out.",
            {"count": int(rows.sum()), "lowest": float(omega.min())},
        )
    ]


def _band_edge(table: Table, infinite: np.ndarray | None) -> list[Finding]:
    """Damping has died out at the highest frequency.

    Where the data give A_inf and it is what Ogilvie's relation asks for with a tail that falls like
    omega^-3, that tail is known.
    """
    B = np.abs(np.diagonal(table.damping, axis1=1, axis2=2))
    top = B.max(axis=0)
    matters = top > 1e-3 * table.scale(table.damping) ** 2
    share = np.where(matters, B[-1] / np.where(top > 0, top, 1.0), 0.0)
    worst = int(share.argmax())
    if share[worst] <= 0.05:
        return []
    known = np.zeros(top.size, dtype=bool)
    if infinite is not None:
        known = is_tail_known(table.omega, table.added_mass, table.damping, infinite)
    lost = np.where(known, 0.0, share)
    if lost.max() > 0.2:
        worst = int(lost.argmax())
    return [
        Finding(
            "warning" if lost[worst] > 0.2 else "note",
            "band_edge",
            f"damping of {table.dofs[worst]} is still {share[worst]:.0%} of its maximum at the "
            f"highest frequency, {table.omega[-1]:.3g} rad/s: the retardation function is wrong "
            "at short times. Compute higher frequencies, or rely on the extension of the band.",
            {"share": float(share[worst])},
        )
    ]


def _few(values: np.ndarray) -> str:
    shown = [f"{x:.4g}" for x in values[:4]]
    return ", ".join(shown) + (f" ... {values[-1]:.4g}" if values.size > 4 else "")


def _few_names(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
