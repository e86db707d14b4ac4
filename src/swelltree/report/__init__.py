"""Reports, plots, 3-D replay, films, live view, and the outline in the terminal."""

from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    # the plots need matplotlib, which is imported when the first one is asked for
    if name == "plot":
        import importlib

        return importlib.import_module("swelltree.report.plots")
    raise AttributeError(f"module 'swelltree.report' has no attribute '{name}'")
