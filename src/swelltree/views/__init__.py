"""Views: outline in the terminal, plots, three-dimensional replay, reports, films."""

from typing import Any


def __getattr__(name: str) -> Any:
    # the plots need matplotlib, which is imported when the first one is asked for
    if name == "plot":
        import importlib

        return importlib.import_module("swelltree.views.plot")
    raise AttributeError(f"module 'swelltree.views' has no attribute '{name}'")
