"""Static equilibrium and mooring stiffness; `relax` damps a motion to come near the former."""
