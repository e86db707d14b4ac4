"""Labels of channels that only the effect itself knows, such as those of users' own effects."""

from __future__ import annotations

from swelltree.engine.arrays import Array
from swelltree.model.model import Model
from swelltree.results.labels import LABELS, Label


def own_labels(model: Model, raw: dict[str, Array]) -> dict[str, Label]:
    """Labels of channels that are not among the known ones.

    Args:
        model: that was run.
        raw: channels, time first.
    """
    labels = {}
    for effect in model.effects:
        names = [name for name in raw if effect.prefix and name.startswith(effect.prefix)]
        for name in names:
            plain = name.removeprefix(effect.prefix)
            if name not in LABELS and (effect.shows_all or plain in effect.units):
                shape = raw[name].shape[1:]
                dims = effect.dims.get(plain) or _dims(model, name, shape)
                about = f"{plain.replace('_', ' ')} of {effect.word}"
                labels[name] = Label(name, dims, effect.units.get(plain, ""), about)
    return labels


def _dims(model: Model, name: str, shape: tuple[int, ...]) -> tuple[str, ...]:
    """Dimensions of a channel by its shape: bodies, axes and directions have known numbers."""
    known = {model.layout.n_bodies: "body", 3: "axis", 6: "dof"}
    first = [known.get(shape[0], f"{name}_0")] if shape else []
    if len(shape) == 1 and shape[0] in (3, 6):
        first = [{3: "axis", 6: "dof"}[shape[0]]]
    rest = [{3: "axis", 6: "dof"}.get(n, f"{name}_{k}") for k, n in enumerate(shape[1:], 1)]
    return (*first, *rest)
