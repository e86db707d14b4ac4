"""Weak-scatterer hydrodynamics: bodies that move far in waves that they disturb little.

The velocity potential is that of the incident wave, known, plus a perturbation that is found by
boundary elements on the body where it is and on the incident free surface (Letournel 2015;
Wuillaume et al. 2017, section 5). `influence/` integrates over triangles, `mesh/` makes and checks
surfaces, `problem/` solves for the potential, `incident/` knows the wave, `motion/` steps in time
and gives the multibody solver an added mass and a wrench. The theory page gives the equations.
"""
