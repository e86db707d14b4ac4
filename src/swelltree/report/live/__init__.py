"""A running simulation in the browser, with sliders.

`view` is the function users call, `server` the page and its socket, `running` the thread that
steps, `sliders` the numbers that may be changed.
"""
