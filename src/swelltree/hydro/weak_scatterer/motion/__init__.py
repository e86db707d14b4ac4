"""Moving bodies and a moving free surface: conditions, loads, coupling and time steps."""
