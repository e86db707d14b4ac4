"""Linear hydrodynamics from data: buoyancy, radiation, excitation, drift."""
