"""Pairs of features: some in every run of the tests, all of them in the slow ones."""

import pytest

from swelltree.compiler.compile import compile
from swelltree.describe.errors import SwelltreeError
from validation.multibody.combinations import PAIRS, checked, data, run, system

QUICK = {("nonlinear", "drift"), ("morison", "spreading"), ("latching", "loop")}


@pytest.mark.filterwarnings("ignore::swelltree.describe.errors.SwelltreeWarning")
@pytest.mark.parametrize(
    "pair", [p if p in QUICK else pytest.param(p, marks=pytest.mark.slow) for p in PAIRS]
)
def test_pair_of_features(pair):
    for check in checked(run(set(pair)), " + ".join(pair)):
        assert check.ok, f"{check.quantity}: {check.shown_value}, allowed {check.allowed}"


def test_drift_of_a_nonlinear_hull_would_be_counted_twice():
    with pytest.raises(SwelltreeError, match="aft"):
        compile(system(set()), data(), radiation="none", nonlinear=["aft"], drift="mean")
