"""Pictures of the demo for the pages: `make demo`, then `.venv/bin/python docs/pictures.py`.

Needs Chromium on the machine; the pictures are part of the repository.
"""

import shutil
import sys
import time
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
REPORT = HERE.parent / "out" / "demo" / "report.html"
FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


def main(report: Path) -> None:
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 860}, device_scale_factor=1.25)
        page.goto(f"file://{report.resolve()}#paused")
        while not page.evaluate("!!window.swelltree && swelltree.frames() > 0"):
            time.sleep(0.1)
        page.evaluate("swelltree.set({ time: 74 })")
        page.evaluate("swelltree.stage.finest()")
        page.evaluate("swelltree.draw()")
        page.locator("#stage").screenshot(path=HERE / "_static" / "demo.png")
        page.evaluate('swelltree.set({ selected: { kind: "body", name: "barge2" } })')
        page.evaluate("swelltree.draw()")
        page.evaluate("window.scrollTo({ top: 0, behavior: 'instant' })")
        time.sleep(0.5)
        page.screenshot(path=HERE / "_static" / "report.png")
        browser.close()
    for name in ("demo.png", "report.png"):
        path = HERE / "_static" / name
        Image.open(path).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(
            path, optimize=True
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else REPORT)
