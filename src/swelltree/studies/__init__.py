"""The verbs users call: each takes a model and returns a labelled dataset."""
