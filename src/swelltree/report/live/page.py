"""The page of a live view or a recording: 3-D scene, sliders, traces and energy balance."""

from __future__ import annotations

import base64
import hashlib
from html import escape
from typing import TYPE_CHECKING

from swelltree.describe.values import NamedValues
from swelltree.report.html import Blocks
from swelltree.report.report import filled, in_script, web_file
from swelltree.report.scene import COLORS, scene

if TYPE_CHECKING:
    import xarray as xr


def live_page(
    moment: xr.Dataset,
    names: list[str],
    channels: list[str],
    title: str,
    frames: list[NamedValues] | None = None,
) -> str:
    """The page as text.

    Args:
        moment: result of the run at its start.
        names: of all numbers that can have a slider.
        channels: names of all that can have a trace.
        title: heading.
        frames: of a recording, which the page replays; without them it shows a running simulation.
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
    about = {"names": names, "channels": channels, "frames": frames}
    # a server sends its own rule; a file brings one that allows no connection at all
    rule = (
        f"default-src 'none'; script-src {script_rule()}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    kind = "live" if frames is None else "recording"
    return filled(
        web_file("live.html"),
        {
            "title": escape(f"{title} – {kind} – swelltree"),
            "name": escape(title),
            "rule": ""
            if frames is None
            else f'<meta http-equiv="Content-Security-Policy" content="{rule}">',
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
