"""Laws of tests of dry friction."""


def growing(t):
    """One newton more each second."""
    return t
