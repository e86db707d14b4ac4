"""Compiled models in other people's simulators: C code and FMUs, which need no Python to run."""
