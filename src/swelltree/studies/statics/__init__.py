"""Static equilibrium and mooring stiffness."""
