"""The model checks that cost milliseconds and precede every run."""

from __future__ import annotations

from swelltree.describe.errors import Finding, sorted_findings
from swelltree.model.checks.afloat import mass_against_displacement
from swelltree.model.model import Model
from swelltree.studies.checks.sea import CUT_OFF, damping_decayed


def brief_check(model: Model) -> list[Finding]:
    """The checks that cost no compilation, before every run."""
    findings = [*mass_against_displacement(model), *damping_decayed(model, CUT_OFF)]
    return sorted_findings([finding for finding in findings if finding.severity != "note"])
