// Play, pause, scrub, speed and the keys for them.
import { $, clock } from "./dom.js";
import { on, set, state } from "./state.js";

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 60];

export function seek(t) {
  const { start, end } = state.clip;
  set({ time: Math.min(Math.max(t, start), end) });
}

export function toggle() {
  if (!state.playing && !state.clip.loop && state.time >= state.clip.end - 1e-9) set({ time: state.clip.start });
  set({ playing: !state.playing });
}

/** Move on by a number of seconds of the clock on the wall. */
export function advance(seconds) {
  if (!state.playing || !state.clip) return;
  const { start, end, loop } = state.clip;
  let t = state.time + seconds * state.speed;
  if (t >= end) {
    t = loop ? start + ((t - start) % (end - start)) : end;
    if (!loop) set({ playing: false });
  }
  set({ time: t });
}

/** The speed on offer that is nearest to a wanted one. */
export function nearSpeed(wanted) {
  return SPEEDS.reduce((best, x) => (Math.abs(Math.log(x / wanted)) < Math.abs(Math.log(best / wanted)) ? x : best), 1);
}

export function connect(stage) {
  const slider = $("scrub");
  $("play").addEventListener("click", toggle);
  $("back").addEventListener("click", () => seek(state.time - state.clip.step()));
  $("forth").addEventListener("click", () => seek(state.time + state.clip.step()));
  slider.addEventListener("input", () => {
    const { start, end } = state.clip;
    seek(start + (slider.value / 10000) * (end - start));
  });
  const speed = $("speed");
  speed.addEventListener("change", () => set({ speed: Number(speed.value) }));
  for (const button of document.querySelectorAll("[data-view]")) {
    button.addEventListener("click", () => stage.look(button.dataset.view));
  }
  $("follow").addEventListener("change", (event) => set({ follow: event.target.value }));
  on("speed", () => (speed.value = String(state.speed)));
  on("playing", showPlaying);
  on("time", showTime);
  on("clip", showTime);
  document.addEventListener("keydown", (event) => keys(event, stage));
  showPlaying();
}

function showPlaying() {
  const button = $("play");
  button.setAttribute("aria-label", state.playing ? "Pause" : "Play");
  button.dataset.playing = String(state.playing);
}

function showTime() {
  const { start, end } = state.clip;
  const slider = $("scrub");
  slider.value = String(Math.round((10000 * (state.time - start)) / (end - start || 1)));
  slider.setAttribute("aria-valuetext", clock(state.time));
  $("clock").textContent = `${clock(state.time)} / ${clock(end)}`;
}

function keys(event, stage) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const tag = event.target.tagName;
  if (["INPUT", "SELECT", "TEXTAREA", "SUMMARY"].includes(tag)) return;
  if (tag === "BUTTON" && (event.key === " " || event.key === "Enter")) return;
  const views = { 1: "overview", 2: "side", 3: "front", 4: "top", 5: "low" };
  const actions = {
    " ": toggle,
    k: toggle,
    ArrowLeft: () => seek(state.time - state.clip.step()),
    ArrowRight: () => seek(state.time + state.clip.step()),
    PageUp: () => seek(state.time - 20 * state.clip.step()),
    PageDown: () => seek(state.time + 20 * state.clip.step()),
    i: () => stage.zoom(0.85),
    o: () => stage.zoom(1 / 0.85),
    Home: () => seek(state.clip.start),
    End: () => seek(state.clip.end),
    "+": () => faster(1),
    "-": () => faster(-1),
    f: () => set({ follow: state.selected?.kind === "body" && state.follow !== state.selected.name ? state.selected.name : "" }),
    Escape: () => set({ selected: null }),
  };
  // the page scrolls by these unless the picture is in use; with shift the arrows turn the picture
  const moves = ["Home", "End", "PageUp", "PageDown", "ArrowLeft", "ArrowRight"].includes(event.key);
  if (moves && (event.shiftKey || !event.target.closest("#replay"))) return;
  const action = actions[event.key] ?? (views[event.key] && (() => stage.look(views[event.key])));
  if (!action) return;
  event.preventDefault();
  action();
}

function faster(way) {
  const near = SPEEDS.reduce((best, x, i) => (Math.abs(x - state.speed) < Math.abs(SPEEDS[best] - state.speed) ? i : best), 0);
  set({ speed: SPEEDS[Math.min(Math.max(near + way, 0), SPEEDS.length - 1)] });
}
