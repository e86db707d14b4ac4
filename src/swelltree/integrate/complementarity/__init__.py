"""The two-step scheme at position level: lines that go slack and touch the seabed.

Arrays only: every function is pure, works under jit, and takes all lines of a system at once,
padded to the same number of segments.
"""
