"""The studies of a case file by their `type`."""

from swelltree.system.casefile.studies import (
    EquilibriumStudy,
    ModesStudy,
    OptimalControlStudy,
    RaoStudy,
    ResponseStudy,
    SimulateStudy,
    SteadyStateStudy,
    Study,
)
from swelltree.system.casefile.study_operability import OperabilityStudy

STUDY_TYPES: dict[str, type[Study]] = {
    cls.type: cls
    for cls in (
        SimulateStudy,
        EquilibriumStudy,
        ModesStudy,
        RaoStudy,
        ResponseStudy,
        SteadyStateStudy,
        OptimalControlStudy,
        OperabilityStudy,
    )
}
