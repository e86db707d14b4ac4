"""Programs of many cases at once: in the lanes of registers, and on GPUs."""
