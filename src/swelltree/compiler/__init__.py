"""From the described system to the model that solvers run.

`compile` is the function users call; `elements` builds the effects, `assembly` closes loops at the
start, `checks` looks for mistakes. `functions_of_time`: breakpoints and means over steps.
"""
