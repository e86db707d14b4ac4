"""Energy balance of the power take-offs: absorbed = change of stored + delivered + lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swelltree.results.statistics import statistic

if TYPE_CHECKING:
    import xarray as xr


def mean_books(dataset: xr.Dataset) -> list[tuple[str, float, float, float]]:
    """Name, mean absorbed and delivered power [W] and mean losses [W] of every PTO.

    Over the window of `statistics`, as everywhere.
    """
    channels = ("absorbed_power", "delivered_power", "pto_losses")
    means = [statistic(dataset[name], "mean") for name in channels]
    return [
        (str(name), *(float(mean[i]) for mean in means))  # type: ignore[misc]
        for i, name in enumerate(dataset["pto"].values)
    ]
