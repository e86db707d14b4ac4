"""Numbers packed for a page."""

import numpy as np
import pytest

from made_result import read_block
from swelltree.report.html import Blocks, write_block


def smooth(rows=4000, columns=5):
    t = np.linspace(0.0, 200.0, rows)[:, None]
    return np.sin(t * np.linspace(0.3, 1.2, columns)) * np.logspace(-3, 6, columns) + 40.0


def test_the_error_is_a_hundred_thousandth_of_the_range():
    values = smooth()
    about, text = write_block(values)
    error = np.abs(read_block(about, text) - values).max(0)
    assert (error <= np.ptp(values, axis=0) / 130_000).all()


def test_gaps_come_back_as_gaps():
    values = smooth()
    values[10:20, 2] = np.nan
    values[5, 0] = np.inf
    about, text = write_block(values)
    back = read_block(about, text)
    assert np.isnan(back[10:20, 2]).all()
    assert np.isnan(back[5, 0])
    assert np.isnan(back).sum() == 11


def test_constant_and_empty_channels_are_kept():
    values = np.column_stack([np.full(50, 3.25), np.full(50, np.nan), np.zeros(50)])
    about, text = write_block(values)
    back = read_block(about, text)
    assert back[:, 0] == pytest.approx(3.25)
    assert np.isnan(back[:, 1]).all()
    assert (back[:, 2] == 0).all()


def test_a_smooth_channel_takes_little_more_than_a_byte_a_sample():
    blocks = Blocks()
    about = blocks.add(smooth(20_000, 8))
    assert about["block"] == 0
    assert len(blocks.texts[0]) < 1.6 * 20_000 * 8
