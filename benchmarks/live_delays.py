"""Delay of a moved slider in the live view, in real time and in CPU time.

From the message of a page to the first frame of the changed run. Aim: 0.1 s of CPU time.

    python benchmarks/live_delays.py
"""

import asyncio
import json
import time
from urllib.parse import urlsplit

import numpy as np
from tornado.httpclient import HTTPRequest
from tornado.websocket import websocket_connect

import swelltree as sw

TRIED = 12
FIRST = 2  # of which the first compile what is compiled once


async def delays(view, name, values):
    """Wall time and CPU time of each change [s]."""
    place = urlsplit(view.url)
    request = HTTPRequest(
        f"ws://127.0.0.1:{place.port}{place.path}socket",
        headers={"Origin": f"http://127.0.0.1:{place.port}"},
    )
    page = await websocket_connect(request)
    found = []
    for value in values:
        for _ in range(3):
            await page.read_message()  # anywhere between two frames
        requested, spent = time.monotonic(), time.process_time()
        await page.write_message(json.dumps({"set": {name: value}}))
        while True:
            frame = json.loads(await page.read_message())
            if frame["values"][name] == value and frame["rows"]:
                break
        found.append((time.monotonic() - requested, time.process_time() - spent))
    page.close()
    return found[FIRST:]


def main():
    """A device with irregular waves, and the numbers that are moved most."""
    model = sw.gallery.rm3().model()
    sea = sw.IrregularSea(sw.Jonswap(2.0, 8.0), seed=1, omega_min=0.3, omega_max=2.0, ramp=20.0)
    moved = {
        "sea.spectrum.Hs": np.linspace(1.0, 3.0, TRIED),
        "sea.seed": np.arange(10.0, 10.0 + TRIED),
        "ptos.pto.damping": np.linspace(1e5, 2e6, TRIED),
        "forces.pto": np.linspace(-1e5, 1e5, TRIED),
    }
    names = ["ptos.pto.damping=0:1e7", "sea.spectrum.Hs=0.1:5", "sea.seed", "forces.pto=-1e6:1e6"]
    view = sw.live(model, sea, sliders=names, browser=False)
    try:
        times = {
            name: asyncio.run(delays(view, name, values.tolist())) for name, values in moved.items()
        }
    finally:
        view.close()
    print(json.dumps(times))


if __name__ == "__main__":
    main()
