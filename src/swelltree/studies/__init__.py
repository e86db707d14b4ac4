"""The functions users call: each takes a model and returns a labelled dataset.

A folder for each kind of study; `options` holds what all share, `engines` says which engine will
run the study of a case.
"""
