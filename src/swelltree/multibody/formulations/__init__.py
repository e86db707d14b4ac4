"""How body equations become solvable equations: five independent ways that agree."""

from __future__ import annotations

from swelltree.multibody.formulations.base import Formulation, State
from swelltree.multibody.formulations.registry import FORMULATIONS, formulation

__all__ = ["FORMULATIONS", "Formulation", "State", "formulation"]
