"""One model under optimal control: what is known of it for every sea, and the search in one."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from swelltree.engine.arrays import Tree
from swelltree.engine.machine.ran import note, noted
from swelltree.engine.remembered import Remembered
from swelltree.formulations import Formulation
from swelltree.model.model import Model
from swelltree.model.signals import Constant
from swelltree.results.sea import sea_text
from swelltree.studies.control.linear import Port, look_in
from swelltree.studies.control.linear_control import linear_control
from swelltree.studies.control.linearity import looks_linear
from swelltree.studies.control.machines import freed
from swelltree.studies.control.nonlinear import nonlinear_control
from swelltree.studies.control.ports import Ports, with_signals
from swelltree.studies.control.replay import replayed_powers
from swelltree.studies.control.results import control_dataset
from swelltree.studies.control.search import Asked
from swelltree.studies.linear.linear_model import LinearModel
from swelltree.studies.linear.linear_or_not import what_bends
from swelltree.studies.linear.linearise import linear_model
from swelltree.studies.periodic.set_up import PeriodAsked

if TYPE_CHECKING:
    import xarray as xr

CURVED = "its equations bend, as where bodies turn"
KNOWN = Remembered()  # what depends on the model alone


def recalled(known: dict[Tree, Tree], key: object, make: Callable[[], Tree]) -> Tree:
    """What was made before under this key, or made now."""
    if key not in known:
        with noted(apart=True) as ran:
            known[key] = make(), ran.engine
    result, engine = known[key]
    note(engine)
    return result


@dataclass(frozen=True)
class ControlStudy:
    """A model with driven elements."""

    model: Model  # as given
    free: Model  # its driven elements without law and signal
    how: Formulation
    ports: Ports
    linear: LinearModel  # of the free model
    bends: str  # why it is not linear for sure, in words
    method: str  # "auto", "linear" or "nonlinear"
    known: dict[Hashable, Tree]  # results that hold for any sea

    @classmethod
    def of(
        cls,
        model: Model,
        how: Formulation,
        ports: Ports,
        off_stops: frozenset[str],
        radiation: str,
        method: str,
    ) -> ControlStudy:
        """Prepare a model.

        Args:
            model: compiled.
            how: formulation.
            ports: driven elements.
            off_stops: names of those whose stroke stays off their stops.
            radiation: "data" or "state_space".
            method: "auto", "linear" or "nonlinear".
        """
        still = [Constant(np.zeros(())) for _ in ports.names]
        free = with_signals(freed(model, ports.place), ports, still)
        known = KNOWN.about((free, None if free.hydro is None else free.hydro.table))

        def linearised() -> LinearModel:
            return linear_model(free, how, radiation, study="optimal_control")

        linear = recalled(known, (how, "linear", radiation), linearised)
        bends = what_bends(free, off_stops)
        return cls(model, free, how, ports, linear, bends, method, known)

    def is_linear(self, period: PeriodAsked) -> bool:
        """Does nothing bend, by what the model holds and by its equations?"""

        def looks() -> bool:
            return looks_linear(self.free, self.how, self.ports, self.linear, period)

        return not self.bends and recalled(self.known, (self.how, "is linear"), looks)

    def port(self, period: PeriodAsked) -> Port:
        """The linear model as its driven elements see it."""
        length, count = period.length, period.harmonics

        def made() -> Port:
            return look_in(self.free, self.how, self.ports, length, count, self.linear)

        key = (self.how, self.ports.names, length, count, period.radiation)
        return recalled(self.known, key, made)

    def result(self, period: PeriodAsked, asked: Asked, replay: bool) -> xr.Dataset:
        """The optimum in one sea as a dataset.

        Args:
            period: the sea and the series.
            asked: limits and losses.
            replay: run the model in time under the force that was found.
        """
        straight, port = self.is_linear(period), self.port(period)
        method = self.method
        if method == "auto":
            method = "linear" if straight else "nonlinear"
        if method == "linear":
            solution, bound = linear_control(self.linear, port, period.waves, asked)
        else:
            solution, bound = nonlinear_control(
                self.free, self.how, port, self.linear, period, asked
            )
        about = {
            "study": "optimal_control",
            "method": method,
            "radiation": period.radiation,
            "bound" if straight else "linear_bound": bound,
            "wave_components": "" if period.waves is None else sea_text(period.waves),
            "clipped": " ".join(str(k) for k in port.clipped),
        }
        dataset = control_dataset(self.free.layout, self.ports, port.omega, solution, about)
        why = self.bends or ("" if straight else CURVED)
        notes = [*solution.notes, why and f"The model is not linear: {why}."]
        if asked.compare and np.isnan(solution.passive.power):
            notes.append("No plain damper keeps the limits: passive_power is not a number.")
        if replay:
            with noted(apart=True):  # a run of its own, by the engine that its law asks for
                numbers, said = replayed_powers(
                    self.model, dataset, period.waves, period.length, period.radiation
                )
            dataset.attrs |= numbers
            notes.append(said)
        dataset.attrs["report"] = " ".join(note for note in notes if note)
        return dataset
