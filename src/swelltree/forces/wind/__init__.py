"""Forces of the wind: on superstructures, and thrust of rotors."""
