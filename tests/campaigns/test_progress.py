"""What is told while a campaign runs."""

import pytest

from swelltree.campaigns import drive
from swelltree.campaigns.drive import Lines, Progress


def test_a_log_has_a_line_at_a_hundredth_then_one_a_minute_and_the_last():
    """A hundred thousand cases in blocks of ten, one block each 0.1 s."""
    lines = Lines("site", 100_000, 0)
    lines.begin = 0.0
    reported = [lines.after(10, int(k == 50), 0.1 * (k + 1)) for k in range(10_000)]
    reported = [(k, text) for k, text in enumerate(reported) if text]
    assert reported[0] == (99, "site: 1000/100000 cases, 1 failed, 100/s, 16:30 min left")
    assert reported[-1] == (9999, "site: 100000/100000 cases, 1 failed, 100/s, done in 16:40 min")
    full = 1 + int((1000.0 - 10.0) / drive.EVERY) + 1
    assert len(reported) == full


def test_speed_and_time_left_count_what_runs_now_not_what_was_there():
    lines = Lines("site", 1000, 900, failed=3)
    lines.begin = 0.0
    assert lines.after(10, 1, 5.0) == "site: 910/1000 cases, 4 failed, 2/s, 45 s left"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(3.6, "4 s"), (59.7, "1:00 min"), (185, "3:05 min"), (7800, "2:10 h"), (3e5, "3.5 days")],
)
def test_times_are_told_for_people(seconds, text):
    assert drive.duration(seconds) == text


def test_a_terminal_has_a_bar_and_no_lines(monkeypatch, capfd):
    monkeypatch.setenv("FORCE_COLOR", "1")  # by this rich takes anything for a terminal
    with Progress("[b]site", 4, 1) as bar:
        bar.say("a word")
        bar.notify(3, 1)
    reported = capfd.readouterr().err
    assert "4/4" in reported
    assert "1 failed" in reported
    assert "a word" in reported
    assert "[b]site" in reported
    assert "/s," not in reported
