"""The page in a real browser: opened from a file, drawn, played, scrubbed, picked."""

import os
import shutil
import time

import numpy as np
import pytest

from made_result import HOSTILE, made_run, made_water
from swelltree.report.report import write_report

CHROMIUM = next(
    (p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), ""
)
FLAGS = [
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
]
# names of a model are shown as text whatever they hold
NAMES = (*HOSTILE[:2], "plain")


@pytest.fixture(scope="module")
def browser():
    if not CHROMIUM:
        pytest.skip("skipped: no Chromium")
    api = pytest.importorskip("playwright.sync_api", reason="skipped: no Playwright")
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    with api.sync_playwright() as play:
        try:
            found = play.chromium.launch(
                executable_path=CHROMIUM, args=[*FLAGS, *(["--no-sandbox"] if root else [])]
            )
        except api.Error as error:
            pytest.skip(f"skipped: no Chromium that starts ({str(error).splitlines()[0]})")
        yield found
        found.close()


def opened(browser, path, width=1100, height=800):
    """A page of its own, drawn once and never scrolled."""
    page = browser.new_page(viewport={"width": width, "height": height})
    page.set_default_timeout(60_000)
    page.goto(f"file://{path}#paused")
    until(page, "!!window.swelltree && swelltree.frames() > 0")
    return page


@pytest.fixture(scope="module")
def run():
    return made_run(NAMES, lines=2)


@pytest.fixture(scope="module")
def page(browser, run, tmp_path_factory):
    path = write_report(run, tmp_path_factory.mktemp("report") / "report.html")
    page = browser.new_page(viewport={"width": 1100, "height": 800})
    page.set_default_timeout(60_000)
    page.requested, page.wrong = [], []
    page.on("request", lambda request: page.requested.append(request.url))
    page.on("pageerror", lambda error: page.wrong.append(str(error)))
    page.on("dialog", lambda dialog: page.wrong.append(dialog.message))
    page.goto(f"file://{path}#paused")
    until(page, "!!window.swelltree && swelltree.frames() > 0")
    return page


def until(page, condition, most=60.0):
    """Wait for a condition; Playwright's own way is forbidden by the rule in the page's head."""
    end = time.monotonic() + most
    while not page.evaluate(condition):
        assert time.monotonic() < end, condition
        page.wait_for_timeout(50)


def at(page, t):
    page.evaluate("t => { swelltree.set({ time: t }); swelltree.draw(); }", t)


def test_it_opens_from_a_file_without_asking_for_anything(page):
    assert page.wrong == []
    assert [url for url in page.requested if not url.startswith(("file:", "blob:", "data:"))] == []
    assert len(page.requested) == 1


def test_the_picture_is_not_blank(page):
    at(page, 30.0)
    pixels = np.array(page.evaluate("swelltree.pixels()")).reshape(48, 64, 4)[..., :3]
    colours = {tuple(pixel // 16) for row in pixels for pixel in row}
    assert len(colours) > 25
    # and it moves
    at(page, 33.0)
    later = np.array(page.evaluate("swelltree.pixels()")).reshape(48, 64, 4)[..., :3]
    assert (np.abs(later - pixels).max(-1) > 8).mean() > 0.02


def test_bodies_are_where_the_result_says(page, run):
    for i in (0, 123, 450):
        at(page, float(run["time"].values[i]))
        for k, name in enumerate(NAMES):
            drawn = page.evaluate("name => swelltree.body(name)", name)
            place, turn = run["position"].values[i, k, :3], run["quaternion"].values[i, k]
            assert drawn["position"] == pytest.approx(place, abs=2e-3)
            assert drawn["quaternion"] == pytest.approx(turn[[1, 2, 3, 0]], abs=1e-4)


def test_lines_and_sea_are_where_the_result_says(page, run):
    at(page, 20.0)
    shape = run["line_position"].sel(time=20.0, method="nearest").values
    for node in (0, 5, 11):
        drawn = page.evaluate("node => swelltree.node(1, node)", node)
        assert drawn == pytest.approx(shape[1, node], abs=5e-3)
    for i in (50, 200, 433):
        t = float(run["time"].values[i])
        drawn = page.evaluate("t => swelltree.elevation(t, 0, 0)", t)
        assert drawn == pytest.approx(float(run["elevation"].values[i]), abs=1e-5)


def test_it_plays_and_pauses(page):
    at(page, 0.0)
    page.click("#play")
    until(page, "swelltree.state.time > 0.2")
    page.click("#play")
    stopped = page.evaluate("swelltree.state.time")
    page.wait_for_timeout(150)
    assert page.evaluate("swelltree.state.time") == stopped
    page.focus("#canvas")
    page.keyboard.press("Space")
    assert page.evaluate("swelltree.state.playing")
    page.keyboard.press("Space")
    page.keyboard.press("Home")
    assert page.evaluate("swelltree.state.time") == 0.0
    page.keyboard.press("ArrowRight")
    assert page.evaluate("swelltree.state.time") == pytest.approx(0.1)
    before = page.evaluate("swelltree.stage.camera.position.toArray()")
    page.keyboard.press("Shift+ArrowLeft")
    turned = page.evaluate("swelltree.stage.camera.position.toArray()")
    assert np.linalg.norm(np.subtract(turned, before)) > 0.1
    assert page.evaluate("swelltree.state.time") == pytest.approx(0.1)
    page.keyboard.press("1")
    assert page.evaluate("swelltree.stage.camera.position.toArray()") == pytest.approx(before)


def test_scrubbing_moves_the_cursor_in_the_plots(page):
    page.locator("#plots figure").first.scroll_into_view_if_needed()
    page.wait_for_selector("#plots .now", state="attached")
    at(page, 0.0)
    before = page.evaluate("swelltree.cursor()")
    page.evaluate(
        """() => { const slider = document.getElementById("scrub");
        slider.value = 7500; slider.dispatchEvent(new Event("input")); }"""
    )
    assert page.evaluate("swelltree.state.time") == pytest.approx(45.0, abs=0.01)
    after = page.evaluate("swelltree.cursor()")
    assert before != after
    assert float(after.split("(")[1].rstrip("px)")) > 100
    # and a click in a plot moves the replay
    box = page.locator("#plots .u-over").first.bounding_box()
    page.mouse.click(box["x"] + 0.25 * box["width"], box["y"] + 0.5 * box["height"])
    assert page.evaluate("swelltree.state.time") == pytest.approx(15.0, abs=1.0)


def test_a_body_is_picked_and_its_channels_are_shown(page, run):
    page.evaluate("window.scrollTo({ top: 0, behavior: 'instant' })")
    page.evaluate("swelltree.set({ selected: null })")
    at(page, 30.0)
    x, y = page.evaluate("name => swelltree.screen(name)", NAMES[1])
    page.evaluate("document.getElementById('labels').style.display = 'none'")
    page.mouse.click(x, y)
    page.evaluate("document.getElementById('labels').style.display = ''")
    chosen = page.evaluate("swelltree.state.selected")
    assert chosen == {"kind": "body", "name": NAMES[1]}
    assert page.locator("#chosen .chosen-name").inner_text() == NAMES[1]
    rows = page.locator("#chosen tbody tr")
    assert rows.count() > 12
    shown = rows.filter(has=page.get_by_text("Heave", exact=True)).first.locator("td").nth(1)
    start = float(run["position"].values[0, 1, 2])
    now = float(run["position"].sel(time=30.0, method="nearest").values[1, 2]) - start
    assert float(shown.inner_text().replace("−", "-")) == pytest.approx(now, abs=2e-3)
    assert page.locator("#chosen .plot canvas").count() == 1


def test_a_line_is_picked(page):
    page.evaluate("window.scrollTo({ top: 0, behavior: 'instant' })")
    page.evaluate("swelltree.set({ selected: null })")
    at(page, 20.0)
    x, y = page.evaluate("swelltree.screenAt(swelltree.node(1, 5))")
    page.mouse.click(x, y)
    assert page.evaluate("swelltree.state.selected") == {"kind": "line", "name": "line 1"}
    assert page.locator("#chosen tbody tr").count() >= 2


def test_hostile_names_are_shown_as_text(page):
    assert page.evaluate("typeof window.hacked") == "undefined"
    assert page.locator("h1").inner_text() == NAMES[0]
    assert page.locator("main img:not([src^='data:image/'])").count() == 0
    shown = page.locator("#things .thing span").all_inner_texts()
    assert list(NAMES) == shown[:3]


def test_dark_and_light_and_the_width_of_a_phone(page):
    page.evaluate("window.scrollTo({ top: 0, behavior: 'instant' })")
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.click("#theme")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    page.click("#theme")
    page.set_viewport_size({"width": 390, "height": 844})
    # plots take their new width a moment later; nothing may stick out then
    until(page, "document.documentElement.scrollWidth <= innerWidth", most=15.0)
    page.set_viewport_size({"width": 1100, "height": 800})


def test_every_control_has_a_name(page):
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("button, select, input")].filter(
        (x) => !(x.getAttribute("aria-label") || x.textContent.trim() || x.title)).length"""
    )
    assert nameless == 0
    assert page.wrong == []


# --- pages that are opened anew: printed unseen, on a phone, with many series ------------


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Eleven bodies and ten machines between them: the eight colours come round again."""
    run = made_run([f"body {k}" for k in range(1, 12)], duration=20.0, lines=2)
    return write_report(run, tmp_path_factory.mktemp("many") / "report.html")


INKED = """() => [...document.querySelectorAll("#plots figure")].map((figure) => {
    const canvas = figure.querySelector("canvas");
    if (!canvas) return 0;
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let inked = 0;
    for (let i = 3; i < data.length; i += 4) inked += data[i] > 40;
    return inked / (canvas.width * canvas.height);
})"""


def test_a_page_that_is_printed_before_it_is_scrolled_has_all_its_plots(browser, many):
    page = opened(browser, many)
    before = page.evaluate(INKED)
    assert len(before) > 5
    assert before.count(0) > 2  # not seen yet, so not drawn
    assert len(page.pdf()) > 1e5
    after = page.evaluate(INKED)
    # axes and lines cover at least some hundredths of each plot
    assert min(after) > 0.005
    page.close()


def test_nothing_covers_the_keys_on_a_phone(browser, many):
    page = opened(browser, many, width=390, height=844)
    at(page, 10.0)
    # what lies on top at the middle and the ends of every word of the keys
    covered = """selector => [...document.querySelectorAll(selector)].flatMap((key) => {
        key.scrollIntoView({ block: "center", behavior: "instant" });
        const box = key.getBoundingClientRect();
        if (!box.width) return [];
        return [0.05, 0.5, 0.95].map((part) => {
            const x = box.left + part * box.width;
            const top = document.elementFromPoint(x, box.top + 0.5 * box.height);
            if (x < 0 || x > innerWidth) return `${key.textContent}: outside`;
            return key.contains(top) || key.parentElement === top
                ? "" : `${key.textContent}: ${top?.className}`;
        });
    })"""
    found = page.evaluate(covered, ".tensions")
    assert len(found) == 3
    assert set(found) == {""}
    # a plot is drawn when it is first seen: see each, and wait for its own key
    figures = page.locator("#plots figure").all()
    for figure in figures:
        figure.scroll_into_view_if_needed()
        figure.locator(".legend .key").first.wait_for(state="attached")
    found = page.evaluate(covered, "#plots .legend .key")
    assert len(found) > 20
    assert set(found) == {""}
    # labels of bodies end above the key of the tensions
    boxes = "s => [...document.querySelectorAll(s)].map((x) => x.getBoundingClientRect().toJSON())"
    (key,) = page.evaluate(boxes, ".tensions")
    (scale,) = page.evaluate(boxes, ".scale")
    assert scale["bottom"] <= key["top"] or scale["top"] >= key["bottom"]
    page.close()


@pytest.mark.parametrize("width", [390, 1200])
def test_labels_of_eleven_bodies_do_not_meet(browser, many, width):
    page = opened(browser, many, width=width, height=844)
    at(page, 10.0)
    shown = """() => [...document.querySelectorAll(".tag")]
        .filter((x) => x.style.visibility === "visible")
        .map((x) => [x.textContent, x.getBoundingClientRect().toJSON()])"""
    labels = page.evaluate(shown)
    assert len(labels) >= 3
    for i, (_, one) in enumerate(labels):
        for _, other in labels[:i]:
            apart_x = one["left"] >= other["right"] or other["left"] >= one["right"]
            assert apart_x or one["top"] >= other["bottom"] or other["top"] >= one["bottom"]
    # what is chosen keeps its label
    names = [f"body {k}" for k in range(1, 12)]
    aliased = next(name for name in names if name not in [text for text, _ in labels])
    page.evaluate("name => swelltree.set({ selected: { kind: 'body', name } })", aliased)
    page.evaluate("swelltree.draw()")
    (chosen,) = [text for text, _ in page.evaluate(shown) if text == aliased]
    assert chosen == aliased
    page.close()


def test_the_ninth_series_is_told_from_the_first(browser, many):
    page = opened(browser, many)
    for figure in page.locator("#plots figure").all():
        figure.scroll_into_view_if_needed()
        figure.locator(".legend .key").first.wait_for(state="attached")
    keys = page.evaluate(
        """() => [...document.querySelectorAll("#plots .legend")].map((legend) =>
        [...legend.querySelectorAll(".key > i")].map((x) => {
            const style = getComputedStyle(x);
            return style.backgroundColor + style.backgroundImage + style.width; }))"""
    )
    longest = max(keys, key=len)
    assert len(longest) >= 9
    assert len(set(longest)) == len(longest)
    page.close()


def test_computed_water_is_drawn_with_the_pressure_on_hulls(browser, tmp_path):
    run = made_water(made_run(duration=8.0))
    page = opened(browser, write_report(run, tmp_path / "water.html"))
    at(page, 3.0)
    drawn = page.evaluate("Array.from(swelltree.stage.fluid.sheet.attributes.position.array)")
    now = run.sel(time=3.0, method="nearest")
    assert np.reshape(drawn, (-1, 3)) == pytest.approx(now.weak_scatterer_surface.values, abs=2e-3)
    colours = page.evaluate("Array.from(swelltree.stage.fluid.shell.attributes.color.array)")
    red, _, blue = np.reshape(colours, (-1, 3)).T
    deepest, highest = (int(i) for i in np.argsort(now.weak_scatterer_hull.values[:, 2])[[0, -1]])
    assert red[deepest] > blue[deepest]  # high pressure is red, low is blue
    assert red[highest] < blue[highest]
    assert "pressure on hulls" in page.inner_text(".tensions")
    # both halves are there, and the sheet of plane waves leaves them out
    assert page.evaluate("swelltree.stage.fluid.group.children.length") == 4
    assert page.evaluate("swelltree.stage.water.hole.toArray()") == pytest.approx(
        [5, 0, 70], abs=0.1
    )
    page.close()
