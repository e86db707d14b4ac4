"""Laws of power take-offs: force, energies and inner states of one kind of machine each."""
