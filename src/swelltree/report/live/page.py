"""The page of a live view: the scene of reports, sliders, traces and energy balance beside it."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from typing import TYPE_CHECKING

from swelltree.report.html import Blocks
from swelltree.report.report import filled, in_script, web_file
from swelltree.report.scene import COLORS, scene

if TYPE_CHECKING:
    import xarray as xr


def live_page(moment: xr.Dataset, names: list[str], channels: list[str], title: str) -> str:
    """The page as text.

    Args:
        moment: result of the run at its start.
        names: of all numbers that can have a slider.
        channels: names of all that can have a trace.
        title: heading.
    """
    blocks = Blocks()
    shown = scene(moment, blocks)
    content = {
        "runs": [
            {
                "label": title,
                "scene": shown,
                "time": shown["time"],
                "channels": [],
                "blocks": [],
                "plots": [],
                "spectrum": None,
                "periodic": False,
            }
        ],
        "raos": [],
        "modes": [],
        "still": None,
        "colors": COLORS,
    }
    about = {"names": names, "channels": channels}
    return filled(
        web_file("live.html"),
        {
            "title": escape(f"{title} – live – swelltree"),
            "name": escape(title),
            "data": in_script(content),
            "about": in_script(about),
            "blocks": "\n".join(
                f'<script id="block-{i}" type="text/plain">{text}</script>'
                for i, text in enumerate(blocks.texts)
            ),
            "style": web_file("viewer.min.css") + web_file("live.css"),
            "viewer": web_file("viewer.min.js"),
            "live": web_file("live.js"),
        },
    )


def script_rule() -> str:
    """Content security policy: hashes of the viewer and the live script."""
    hashes = []
    for name in ("viewer.min.js", "live.js"):
        digest = hashlib.sha256(web_file(name).encode()).digest()
        hashes.append(f"'sha256-{base64.b64encode(digest).decode()}'")
    return " ".join(hashes)
