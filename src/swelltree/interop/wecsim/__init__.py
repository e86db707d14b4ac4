"""Cases of WEC-Sim: the input script and the Simulink model beside it, as case files.

`reader` is the function users call. `script` reads MATLAB with the `values` it may hold, `diagram`
the Simulink model; `translation` makes the case of them, with `bodies`, `joints`, `seas`,
`hydro_data`, each from its `assignments`.
"""
