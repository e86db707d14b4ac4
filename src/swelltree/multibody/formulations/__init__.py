"""How body equations become solvable equations: five independent ways that agree.

`base`: the interface, and what formulations in joint or absolute coordinates share. One module for
each formulation. `equations`: the equations of motion of a model in a formulation, found by
its name; `channels`: what is reported; `latches`, `reeling`: joints locked, cables paid out.
"""

from swelltree.multibody.formulations.base import Formulation, State
from swelltree.multibody.formulations.equations import FORMULATIONS, formulation

__all__ = ["FORMULATIONS", "Formulation", "State", "formulation"]
