"""Channels of several effects under one name are rows of one array."""

import numpy as np
import pytest

from swelltree.model.capabilities import ReportsLines
from swelltree.model.effect import Effect
from swelltree.model.solved import joined_channels


class Rows(ReportsLines):
    """An effect with rows of lines and so many nodes."""

    prefix = ""

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
    of_a = {"fairlead_tension": rng.normal(size=2), "line_position": rng.normal(size=(2, 4, 3))}
    of_b = {
        "fairlead_tension": rng.normal(size=1),
        "line_position": rng.normal(size=(1, 6, 3)),
        "line_node_tension": rng.normal(size=(1, 6)),
    }
    found = joined_channels([(a, of_a), (Other(), {"pull": np.ones(5)}), (b, of_b)], None)
    assert found["other_pull"] == pytest.approx(np.ones(5))
    assert np.array_equal(
        found["fairlead_tension"],
        np.concatenate([of_a["fairlead_tension"], of_b["fairlead_tension"]]),
    )
    # idle nodes are at end A, which comes first
    assert np.array_equal(
        found["line_position"][:2, :3], np.repeat(of_a["line_position"][:, :1], 3, axis=1)
    )
    assert np.array_equal(found["line_position"][:2, 2:], of_a["line_position"])
    assert np.array_equal(found["line_position"][2:], of_b["line_position"])
    # what an effect does not give is NaN
    assert np.isnan(found["line_node_tension"][:2]).all()
    assert np.array_equal(found["line_node_tension"][2:], of_b["line_node_tension"])


def test_flags_and_lengths_of_idle_segments_are_zero():
    a, b = Rows(("p",), 3), Rows(("r",), 5)
    found = joined_channels(
        [
            (a, {"line_node_tension": np.full((1, 3), 7.0)}),
            (b, {"line_node_tension": np.ones((1, 5))}),
        ],
        None,
    )
    assert np.array_equal(found["line_node_tension"], [[0.0, 0.0, 7.0, 7.0, 7.0], [1.0] * 5])


def test_rows_of_one_effect_alone_stay_as_they_are():
    values = np.array([[True, False]])
    found = joined_channels([(Rows(("p",), 2), {"line_node_tension": values})], None)
    assert found["line_node_tension"] is values
