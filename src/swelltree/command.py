"""Entry point of the command `swelltree`: Ctrl-C stops it at any time, also during imports.

Without this, Ctrl-C during an import shows a traceback, and during the parsing of options a message
and exit code of Click. Before a command begins and after it ended there is nothing to clean up: one
line is printed, and the process ends.
"""

# nothing slow is imported before the signal handler is set
import _signal
import os
import sys

STOPPED = "swelltree: stopped by the keyboard."
CODE = 130  # of commands that were stopped so: 128 and the number of the signal
AGAIN = 0.05  # s, after which a stop that was lost is tried again


def end_now(number: int, frame: object) -> None:
    """Report the signal and end immediately."""
    os.write(2, f"{STOPPED}\n".encode())
    os._exit(CODE)


def stop_once(number: int, frame: object) -> None:
    """Raise once so that the command cleans up; a second signal ends at once."""
    _signal.signal(_signal.SIGINT, end_now)
    raise KeyboardInterrupt


def lost(unraisable: "sys.UnraisableHookArgs") -> None:
    """Raise an interrupt again that Python dropped in a destructor or callback."""
    if unraisable.exc_type is KeyboardInterrupt and hasattr(_signal, "setitimer"):
        _signal.signal(_signal.SIGALRM, stop_once)
        _signal.setitimer(_signal.ITIMER_REAL, AGAIN)
    else:
        sys.__unraisablehook__(unraisable)


def hear(stop: bool) -> bool:
    """Let the keyboard stop what runs, or end the process where nothing has to be cleaned up.

    Args:
        stop: what runs cleans up.

    Returns:
        whether it does so: the keyboard is left alone where others handle it.
    """
    if _signal.getsignal(_signal.SIGINT) not in (end_now, stop_once):
        return False
    _signal.signal(_signal.SIGINT, stop_once if stop else end_now)
    sys.unraisablehook = lost if stop else sys.__unraisablehook__
    return True


def was_stopped() -> bool:
    """Whether the command was interrupted from the keyboard."""
    return _signal.getsignal(_signal.SIGINT) is end_now


def main() -> None:
    import importlib

    importlib.import_module("swelltree.cli").app()


# else whoever began us wants none of it, as nohup and shells do
if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler and sys.argv[0].endswith(
    ("/swelltree", "\\swelltree.exe")
):
    _signal.signal(_signal.SIGINT, end_now)
