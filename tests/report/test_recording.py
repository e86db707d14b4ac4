"""Recordings of live views: thinning, and what is recorded on change only."""

import numpy as np

from swelltree.report.live.recording import Recording


def message(t, **others):
    sent = {"t": t, "bodies": [t, 0.0], "rows": [[t, 2 * t]], "values": {"gain": 1.0}}
    return sent | {"message": "", "achieved": 1.0, "paused": False} | others


def test_a_long_run_is_recorded_whole_at_an_even_spacing():
    recording = Recording(limit=50)
    for k in range(1000):
        recording.add(message(0.1 * k))
    times = np.array([frame["t"] for frame in recording.frames])
    assert 25 <= len(times) <= 51
    assert times[0] == 0.0
    assert times[-1] > 95.0
    assert np.ptp(np.diff(times)[1:-1]) < 1e-9
    assert all(frame["rows"] == [[frame["t"], 2 * frame["t"]]] for frame in recording.frames)


def test_changes_survive_thinning():
    recording = Recording(limit=20)
    for k in range(300):
        changed = {"waves": {"seed": 2}} if k == 101 else {}
        recording.add(message(0.1 * k, values={"gain": 1.0 + (k >= 57)}, **changed))
    with_values = [frame for frame in recording.frames if "values" in frame]
    assert [frame["values"]["gain"] for frame in with_values] == [1.0, 2.0]
    (with_sea,) = (frame for frame in recording.frames if "waves" in frame)
    spacing = recording.frames[-1]["t"] - recording.frames[-2]["t"]
    assert 5.7 <= with_values[1]["t"] <= 5.7 + spacing
    assert 10.1 <= with_sea["t"] <= 10.1 + spacing
    assert not {"achieved", "paused"} & set(with_sea)


def test_a_restart_begins_a_new_recording_in_the_same_sea():
    recording = Recording()
    recording.add(message(0.0, waves={"seed": 1}))
    recording.add(message(0.1))
    recording.add(message(0.0, anew=True))
    (frame,) = recording.frames
    assert frame["waves"] == {"seed": 1}
    assert frame["values"] == {"gain": 1.0}


def test_a_change_in_a_pause_belongs_to_the_present_frame():
    recording = Recording()
    recording.add(message(0.0))
    recording.add(message(0.1))
    for gain in (2.0, 3.0):
        recording.add(message(0.1, values={"gain": gain}, rows=[]))
    assert [frame["t"] for frame in recording.frames] == [0.0, 0.1]
    assert recording.frames[-1]["values"] == {"gain": 3.0}
    assert recording.frames[-1]["rows"] == [[0.1, 0.2]]
