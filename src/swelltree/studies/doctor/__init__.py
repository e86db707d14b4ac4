"""Is the physics of a case plausible?"""
