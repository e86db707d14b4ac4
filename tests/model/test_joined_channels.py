"""Channels of several effects under one name are rows of one array."""

import numpy as np
import pytest

from swelltree.model.effect import Effect
from swelltree.model.solved import joined_channels


class Rows(Effect):
    """An effect with rows of lines and so many nodes."""

    prefix = ""
    dims = {
        "pull": ("line",),
        "place": ("line", "line_node", "axis"),
        "mean": ("line", "line_node"),
    }

    def __init__(self, names, nodes):
        self.lines, self.nodes = names, nodes

    def loads(self, model, now):
        raise NotImplementedError

    def coordinates(self, layout):
        return {"line": ("line", self.lines, "line")}

    @property
    def row_sizes(self):
        return {"line_node": self.nodes}


class Other(Effect):
    """An effect of another kind, with a channel of the same name."""

    kind = "other"
    loads = Rows.loads


def test_rows_follow_the_effects_and_short_ones_begin_idle():
    rng = np.random.default_rng(4)
    a, b = Rows(("p", "q"), 4), Rows(("r",), 6)
    of_a = {"pull": rng.normal(size=2), "place": rng.normal(size=(2, 4, 3))}
    of_b = {
        "pull": rng.normal(size=1),
        "place": rng.normal(size=(1, 6, 3)),
        "mean": rng.normal(size=(1, 6)),
    }
    found = joined_channels([(a, of_a), (Other(), {"pull": np.ones(5)}), (b, of_b)], None)
    assert found["other_pull"] == pytest.approx(np.ones(5))
    assert np.array_equal(found["pull"], np.concatenate([of_a["pull"], of_b["pull"]]))
    # idle nodes are at end A, which comes first
    assert np.array_equal(found["place"][:2, :3], np.repeat(of_a["place"][:, :1], 3, axis=1))
    assert np.array_equal(found["place"][:2, 2:], of_a["place"])
    assert np.array_equal(found["place"][2:], of_b["place"])
    # what an effect does not give is NaN
    assert np.isnan(found["mean"][:2]).all()
    assert np.array_equal(found["mean"][2:], of_b["mean"])


def test_flags_and_lengths_of_idle_segments_are_zero():
    a, b = Rows(("p",), 3), Rows(("r",), 5)
    found = joined_channels(
        [(a, {"mean": np.full((1, 3), 7.0)}), (b, {"mean": np.ones((1, 5))})], None
    )
    assert np.array_equal(found["mean"], [[0.0, 0.0, 7.0, 7.0, 7.0], [1.0] * 5])


def test_rows_of_one_effect_alone_stay_as_they_are():
    values = np.array([[True, False]])
    found = joined_channels([(Rows(("p",), 2), {"mean": values})], None)
    assert found["mean"] is values
