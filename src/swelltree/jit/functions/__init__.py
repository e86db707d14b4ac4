"""Mathematical functions in LLVM's language: polynomials of our own.

Arguments are brought into a small range in which a Taylor series is short, with the lost digits
kept beside where it matters. Results are within 2 units in the last place.
"""
