"""`optimise`: the best numbers of a description in one or several seas, by gradients of runs.

The parameters are scaled by their bounds and the objective by its size at the start, and searched
by scipy. Every evaluation (one run for each sea, and its derivatives) is written to a file, if one
is given: scipy's methods are deterministic, so that a search that is resumed repeats those that are
known from the file and goes on.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import numpy as np

from swelltree.describe.errors import SwelltreeError, listed, suggest
from swelltree.describe.files.atomic import write_atomic
from swelltree.describe.options import OptimiseOptions, with_options
from swelltree.describe.values import NamedValues
from swelltree.integrate.stepper import run_key
from swelltree.jit import Tree
from swelltree.model.model import Model
from swelltree.studies.design.chain import Design, unit_of
from swelltree.studies.design.gradient import slopes_of
from swelltree.studies.design.objectives import ChannelObjective, Objective
from swelltree.studies.options import study_of_model
from swelltree.waves.sea import AnySea

if TYPE_CHECKING:
    import xarray as xr

METHODS = ("SLSQP", "L-BFGS-B", "trust-constr")
ACTIVE = 1e-3  # of the range of a parameter, or of a limit: so near it is active

Constraint = tuple[Objective, float | None, float | None]  # objective, its least and largest value


@study_of_model
@with_options(OptimiseOptions)
def optimise(
    model: Model,
    seas: AnySea | Sequence[AnySea] | None,
    objective: Objective,
    parameters: Mapping[str, tuple[float, float]],
    constraints: Sequence[Constraint] = (),
    **options: Unpack[OptimiseOptions],
) -> xr.Dataset:
    """Find parameters of a description that minimise or maximise an objective.

    The objective is the mean over the seas, with their weights; each constraint holds in every
    sea. The search begins at the numbers of the model. See docs/how-to/gradients.md.

    Returns a dataset: along `parameter` the `optimum`, `start`, `derivative` and `relative`
    sensitivity of the objective there, and `at_bound`; along `evaluation` the `history` of the
    objective and of the parameters; along `constraint` and `sea` the value of each constraint and
    whether it is `active`.

    Args:
        model: from `compile`.
        seas: a described sea or several; None for still water.
        objective: as of `gradient`.
        parameters: bounds (low, high) by name; single numbers.
        constraints: (objective, low, high); None where a side is open.
    """
    requested: NamedValues = {**options}
    search = _Search.of(model, seas, objective, parameters, constraints, requested)
    found = search.solved()
    return search.dataset(found)


@dataclass
class _Search:
    """A search in scaled parameters, between zero and one."""

    design: Design
    seas: tuple[AnySea | None, ...]
    weights: np.ndarray
    objectives: tuple[Objective, ...]  # that of the search first
    limits: np.ndarray  # (c, 2)
    names: tuple[str, ...]
    bounds: np.ndarray  # (p, 2)
    start: np.ndarray
    options: NamedValues
    evaluations: list[dict[str, list]] = field(default_factory=list)
    known: dict[bytes, dict[str, list]] = field(default_factory=dict)
    resumed: int = 0

    @classmethod
    def of(
        cls,
        model: Model,
        seas: AnySea | Sequence[AnySea] | None,
        objective: Objective,
        parameters: Mapping[str, tuple[float, float]],
        constraints: Sequence[Constraint],
        options: NamedValues,
    ) -> _Search:
        several = tuple(seas) if isinstance(seas, Sequence) else (seas,)
        if not several:
            raise SwelltreeError("optimise: no seas are given. Give one, or None for still water.")
        weights = options["weights"]
        weights = np.ones(len(several)) if weights is None else np.asarray(weights, float)
        if weights.shape != (len(several),) or not (weights >= 0.0).all() or not weights.any():
            raise SwelltreeError(
                f"optimise: weights {weights.tolist()} do not fit {len(several)} seas. Give one "
                "number for each, none negative, e.g. hours of the year."
            )
        method = options["method"]
        if method not in METHODS:
            raise SwelltreeError(
                f"optimise: method '{method}' is not known.{suggest(method, METHODS)} "
                f"Choose one of {listed(METHODS)}."
            )
        if constraints and method == "L-BFGS-B":
            raise SwelltreeError(
                "optimise: method 'L-BFGS-B' knows bounds alone. Use 'SLSQP' or 'trust-constr' "
                "with constraints."
            )
        if not parameters:
            raise SwelltreeError("optimise: no parameters are given. Give names with bounds.")
        design = Design(model, several[0])
        names = tuple(parameters)
        start = np.array([_start(design, name, parameters[name]) for name in names])
        rows = [(low, high) for _, low, high in constraints]
        limits = np.array(
            [[-np.inf if a is None else a, np.inf if b is None else b] for a, b in rows], float
        ).reshape(-1, 2)
        bounds = np.array([parameters[name] for name in names], float)
        goals = (objective, *(one for one, _, _ in constraints))
        result = cls(
            design, several, weights / weights.sum(), goals, limits, names, bounds, start, options
        )
        result._read()
        return result

    def _numbers(self, x: np.ndarray) -> np.ndarray:
        low, high = self.bounds.T
        return np.clip(low + x * (high - low), low, high)

    def at(self, x: np.ndarray) -> dict[str, np.ndarray]:
        """Objective, constraints (c, seas) and their derivatives in the scaled parameters."""
        p = self._numbers(x)
        entry = self.known.get(p.tobytes())
        if entry is None:
            entry = self._evaluated(p)
            self.known[p.tobytes()] = entry
            self._write(entry)
        if entry not in self.evaluations:
            self.evaluations.append(entry)
        values, slopes = np.array(entry["values"]), np.array(entry["slopes"])
        slopes = slopes * (self.bounds[:, 1] - self.bounds[:, 0])
        return {
            "objective": np.asarray(self.weights @ values[0]),
            "slope": self.weights @ slopes[0],
            "rows": values[1:].reshape(-1),
            "row_slopes": slopes[1:].reshape(-1, len(self.names)),
        }

    def _evaluated(self, p: np.ndarray) -> dict[str, list]:
        values = {name: np.asarray(x) for name, x in zip(self.names, p, strict=True)}
        base = self.design
        bare = replace(base, memo={k: x for k, x in base.memo.items() if len(k) == 1})
        rows = []
        model = None
        for sea in self.seas:
            changed = bare.in_sea(sea).at(values)
            # one compilation of every change serves all seas
            here = changed if model is None else replace(changed, memo=model.memo)
            model = here
            rows.append(slopes_of(here, self.objectives, self.names, self.options))
        base.memo.update({k: x for k, x in bare.memo.items() if len(k) == 1})
        return {
            "parameters": p.tolist(),
            "values": np.stack([row.values for row in rows], axis=1).tolist(),
            "slopes": np.stack([row.derivatives for row in rows], axis=1).tolist(),
        }

    # --- the file of evaluations

    @property
    def _key(self) -> str:
        names = "duration", "output_step", "times", "solver", "rtol", "atol", "step", "max_step"
        numbers = [self.options.get(name) for name in (*names, "settled", "case", "excitation")]
        parts = self.names, self.bounds, self.limits, self.weights, str(self.objectives), numbers
        return run_key(self.design.model, self.seas, *parts)

    def _read(self) -> None:
        file = self._file
        if file is None or not file.exists():
            return
        if not self.options["resume"]:
            raise SwelltreeError(
                f"optimise: '{file}' exists. Give resume=True to continue it, or another file."
            )
        try:
            content = json.loads(file.read_text("utf-8"))
            entries, key = content["evaluations"], content["key"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise SwelltreeError(
                f"optimise: '{file}' is not a file of evaluations ({error}). Give another."
            ) from None
        if key != self._key:
            raise SwelltreeError(
                f"optimise: '{file}' belongs to another search (model, seas, objective, bounds or "
                "options differ). Give another file."
            )
        self.known = {np.array(entry["parameters"]).tobytes(): entry for entry in entries}
        self.resumed = len(entries)

    def _write(self, entry: dict[str, list]) -> None:
        if self._file is not None:
            entries = list(self.known.values())
            write_atomic(self._file, json.dumps({"key": self._key, "evaluations": entries}))

    @property
    def _file(self) -> Path | None:
        file = self.options["checkpoint"]
        return None if file is None else Path(file)

    # --- the search

    def solved(self) -> NamedValues:
        """What scipy found: its x and message, and whether it converged."""
        from scipy.optimize import Bounds, NonlinearConstraint, minimize

        low, high = self.bounds.T
        x0 = (self.start - low) / (high - low)
        first = self.at(x0)
        sign = -1.0 if self.options["maximise"] else 1.0
        scale = sign / (abs(float(first["objective"])) or 1.0)
        sizes = np.maximum(np.abs(np.where(np.isfinite(self.limits), self.limits, 0.0)).max(1), 0.0)
        sizes = np.repeat(np.where(sizes > 0.0, sizes, 1.0), len(self.seas))
        limits = np.repeat(self.limits, len(self.seas), axis=0) / sizes[:, None]
        constraints: Tree = []
        if len(limits):
            slopes: Tree = lambda x: self.at(x)["row_slopes"] / sizes[:, None]  # noqa: E731
            rows = lambda x: self.at(x)["rows"] / sizes  # noqa: E731
            constraints = [NonlinearConstraint(rows, limits[:, 0], limits[:, 1], jac=slopes)]
        method, most = self.options["method"], self.options["max_iterations"]
        tol = self.options["tol"]
        ends = {"ftol": tol} if method != "trust-constr" else {"gtol": tol, "xtol": tol}
        sides: Tree = np.zeros(len(x0)), np.ones(len(x0))
        found = minimize(
            lambda x: scale * self.at(x)["objective"],
            x0,
            jac=lambda x: scale * self.at(x)["slope"],
            method=method,
            bounds=Bounds(*sides, keep_feasible=True),
            constraints=constraints,
            options={"maxiter": most, **ends},
        )
        return {"x": found.x, "message": str(found.message), "success": bool(found.success)}

    def dataset(self, found: NamedValues) -> xr.Dataset:
        import xarray as xr

        x = np.clip(np.asarray(found["x"]), 0.0, 1.0)
        best, p = self.at(x), self._numbers(x)
        width = self.bounds[:, 1] - self.bounds[:, 0]
        derivative = best["slope"] / width
        value = float(best["objective"])
        side = np.where(x < ACTIVE, "lower", np.where(x > 1.0 - ACTIVE, "upper", ""))
        rows = np.asarray(best["rows"]).reshape(len(self.limits), len(self.seas))
        sizes = np.abs(np.where(np.isfinite(self.limits), self.limits, 0.0)).max(1, initial=1e-300)
        near = np.abs(rows[..., None] - self.limits[:, None]) <= ACTIVE * sizes[:, None, None]
        history = [self.weights @ np.array(e["values"])[0] for e in self.evaluations]
        duration = self._duration()
        about = {
            "study": "optimise",
            "objective": _word(self.objectives[0]),
            "maximise": int(self.options["maximise"]),
            "method": self.options["method"],
            "result": "success" if found["success"] else "not converged",
            "message": found["message"],
            "evaluations": len(self.evaluations),
            "evaluations_from_file": self.resumed,
            "simulated_seconds": len(self.evaluations) * len(self.seas) * duration,
        }
        return xr.Dataset(
            {
                "objective": ((), value),
                "optimum": ("parameter", p),
                "start": ("parameter", self.start),
                "derivative": ("parameter", derivative),
                "relative": ("parameter", derivative * p / value if value else np.nan * p),
                "at_bound": ("parameter", side.astype(object)),
                "history": ("evaluation", np.array(history)),
                "history_parameters": (
                    ("evaluation", "parameter"),
                    np.array([e["parameters"] for e in self.evaluations]),
                ),
                "constraint_value": (("constraint", "sea"), rows),
                "active": (("constraint", "sea"), near.any(axis=-1)),
            },
            coords={
                "parameter": np.array(self.names, dtype=object),
                "unit": (
                    "parameter",
                    np.array([unit_of(self.design, n) for n in self.names], dtype=object),
                ),
                "constraint": np.array([_word(g) for g in self.objectives[1:]], dtype=object),
            },
            attrs=about | (self.options["provenance"] or {}),
        )

    def _duration(self) -> float:
        times = self.options["times"]
        return float(self.options["duration"] if times is None else np.asarray(times)[-1])


def _word(objective: Objective) -> str:
    if isinstance(objective, ChannelObjective):
        return str(objective)
    return getattr(objective, "__name__", "own function")


def _start(design: Design, name: str, bounds: tuple[float, float]) -> float:
    """The number to begin from, within its bounds."""
    value = design.value(name)
    if value.shape != ():
        raise SwelltreeError(
            f"optimise: '{name}' has {value.size} numbers. Give one of them, e.g. '{name}.0'."
        )
    low, high = bounds
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise SwelltreeError(
            f"optimise: bounds ({low:g}, {high:g}) of '{name}' are not a range. Give two finite "
            "numbers, the smaller one first: they scale the search too."
        )
    if not low <= value <= high:
        raise SwelltreeError(
            f"optimise: '{name}' is {float(value):g}, outside of its bounds ({low:g}, {high:g}). "
            "Start from a model within them."
        )
    return float(value)
