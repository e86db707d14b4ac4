"""WAMIT's files: the listing .out and the numeric files .1 .3 .3fk .3sc .hst .7 .8 .9 .12d .12s.

Everything is normalised by rho, g and the length scale; phases lead (exp(+iwt)), so complex
values are conjugated. Added mass and damping refer to the axes of each body (XBODY), phases to the
global origin. A period of -1 stands for omega = 0, a period of 0 for omega = inf. Pairs of modes
that a .1 file leaves out at every period are zero by symmetry; whatever else is absent is NaN here
and found by `gaps`.

The density is not in these files unless the .frc file has it (IALTFRC = 2): it must be given.
"""
