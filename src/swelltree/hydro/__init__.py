"""What water does to bodies: data, BEM runs and the models of hydrodynamic loads."""
