"""Power take-offs: actuators between bodies, their laws and their controllers."""
