"""Physical effects: everything that acts on a model, behind the interface of `model.effect`."""
