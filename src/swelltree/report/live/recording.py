"""Recording of a live view: its frames from the last restart, thinned when there are many."""

from __future__ import annotations

from swelltree.describe.values import NamedValues

MAX_FRAMES = 6000  # a page that replays them stays quick
MAX_NUMBERS = 3_000_000  # of all frames together; about 30 MB of text
ON_CHANGE = ("values", "sliders", "traces", "message", "speed", "waves")
DROPPED = ("anew", "achieved", "paused", "rows")


class Recording:
    """Frames of a run. A frame holds the sea, slider values and messages only when they changed.

    When there are more than `limit` frames, every second one is dropped and from then on only
    every second one is kept, so that the whole run remains at an even spacing.

    Args:
        limit: maximum number of frames; less for frames with many numbers.
    """

    def __init__(self, limit: int = MAX_FRAMES) -> None:
        self._limit = limit
        self._begin()

    def _begin(self) -> None:
        self.frames: list[NamedValues] = []
        self._latest: NamedValues = {}  # values of the keys that are recorded on change
        self._waiting: NamedValues = {}  # frames that are merged into the next one kept
        self._every = self._left = 1  # of so many frames one is kept; frames until the next

    def add(self, message: NamedValues) -> None:
        """Append a message to pages; one that starts the run again starts the recording again."""
        if message.get("anew"):
            sea = message.get("waves", self._latest.get("waves"))
            self._begin()
            message = message if sea is None else message | {"waves": sea}
        changed = {
            key: value
            for key, value in message.items()
            if key not in DROPPED
            and not (key in ON_CHANGE and key in self._latest and self._latest[key] == value)
        }
        self._latest |= {key: changed[key] for key in ON_CHANGE if key in changed}
        if message["rows"]:
            changed["rows"] = message["rows"][-1:]
        self._waiting |= changed
        if self.frames and self.frames[-1]["t"] == message["t"]:  # changed in a pause
            self.frames[-1] = self.frames[-1] | self._waiting
            self._waiting = {}
            return
        self._left -= 1
        if self._left:
            return
        self.frames.append(self._waiting)
        self._waiting, self._left = {}, self._every
        numbers = sum(len(message.get(key, ())) for key in ("bodies", "lines", "tension"))
        if len(self.frames) > max(2, min(self._limit, MAX_NUMBERS // max(numbers, 1))):
            # what changed in a dropped frame is kept by the one after it
            first, *rest = self.frames
            pairs = zip(rest[::2], [*rest[1::2], {}], strict=False)
            self.frames = [first, *(before | after for before, after in pairs)]
            self._every = self._left = 2 * self._every
