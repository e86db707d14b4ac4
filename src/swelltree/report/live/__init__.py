"""A running simulation in the browser, with sliders.

`view` is the function users call, `page` what a browser shows, `server` its socket,
`running` the thread that steps, `recording` the frames that can be saved, `sliders` the numbers
that may be changed.
"""
