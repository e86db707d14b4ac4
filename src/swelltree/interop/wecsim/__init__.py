"""Cases of WEC-Sim: the input script and the Simulink model beside it, as case files."""
