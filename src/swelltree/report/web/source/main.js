// The page of a result: reads the data that lie in it, connects the parts.
import { block } from "./blocks.js";
import { HarmonicClip, RunClip, modeClips, waveClip } from "./clips.js";
import { $, make, number } from "./dom.js";
import { showRun } from "./panel.js";
import { frequencyPlot, redraw, timePlot } from "./plots.js";
import { Stage } from "./stage.js";
import { on, set, state } from "./state.js";
import { advance, connect, nearSpeed } from "./transport.js";
import { elevation } from "./water.js";

const data = JSON.parse($("data").textContent);
const COLORS = data.colors;
const clips = [];
let stage = null;

// --- theme ---------------------------------------------------------------------------------

const darkWanted = matchMedia("(prefers-color-scheme: dark)");
let theme = remembered() ?? (darkWanted.matches ? "dark" : "light");

function remembered() {
  try {
    return localStorage.getItem("swelltree-theme");
  } catch {
    return null; // a file opened by double click may have no storage
  }
}

function showTheme() {
  document.documentElement.dataset.theme = theme;
  $("theme").setAttribute("aria-label", theme === "dark" ? "Light colours" : "Dark colours");
  stage?.colours(theme === "dark");
  redraw();
}

function turnTheme() {
  theme = theme === "dark" ? "light" : "dark";
  try {
    localStorage.setItem("swelltree-theme", theme);
  } catch {
    // as above
  }
  showTheme();
}

// --- what is played ------------------------------------------------------------------------

function gatherClips() {
  data.runs.forEach((run, i) => run.scene?.motion && clips.push(new RunClip(run, i)));
  const scene = clips[0]?.scene ?? data.still;
  if (!scene) return;
  const span = spanOf(scene);
  for (const modes of data.modes) {
    if (fits(modes.bodies, scene)) clips.push(...modeClips(modes, scene, span));
  }
  for (const rao of data.raos) {
    if (fits(rao.bodies, scene)) {
      rao.heading = 0;
      rao.row = rao.peak;
      rao.span = span;
      rao.clip = waveClip(rao, scene, 0, rao.peak, span);
      rao.scene = scene;
      clips.push(rao.clip);
    }
  }
  // a state of rest stands still
  const none = Array(6).fill(0);
  if (!clips.length && scene.bodies.every((body) => body.start)) {
    const shape = scene.bodies.map(() => ({ re: none, im: none }));
    clips.push(new HarmonicClip(scene, { kind: "still", label: "at rest", period: 1, sign: 1, shape }));
  }
}

function fits(bodies, scene) {
  return bodies.length === scene.bodies.length && bodies.every((name, i) => name === scene.bodies[i].name);
}

function spanOf(scene) {
  if (!scene.reach) return scene.size;
  return Math.max(...scene.reach.high.map((x, i) => x - scene.reach.low[i]));
}

function fillClipChoice() {
  const choice = $("clip");
  choice.replaceChildren();
  clips.forEach((clip, i) => choice.append(make("option", { value: String(i), text: clip.label })));
  choice.parentElement.hidden = clips.length < 2;
}

function chooseClip(clip) {
  const choice = $("clip");
  choice.value = String(clips.indexOf(clip));
  const before = state.clip;
  state.clip = clip;
  state.time = clip.start;
  stage?.use(clip);
  if (clip.kind === "run" && before?.run !== clip.run) chooseRun(clip.run, clip.index);
  const follow = $("follow");
  follow.replaceChildren(make("option", { value: "", text: "free camera" }));
  clip.scene.bodies.forEach((body) => follow.append(make("option", { value: body.name, text: `follow ${body.name}` })));
  follow.value = state.follow;
  set({ speed: clip.kind === "run" ? (clip.end - clip.start > 1800 ? 5 : 1) : nearSpeed((clip.end - clip.start) / 6) });
  const side = document.querySelector("aside.side");
  side.hidden = !data.runs.length;
  $("replay").classList.toggle("alone", !data.runs.length);
  for (const bar of document.querySelectorAll("[aria-label='Playback']")) bar.hidden = clip.kind === "still";
  set({ time: clip.start + 0 });
  for (const what of ["clip", "time"]) tellAgain(what);
}

function tellAgain(what) {
  const value = state[what];
  state[what] = what === "time" ? value - 1e-12 : null;
  set({ [what]: value });
}

// --- plots ---------------------------------------------------------------------------------

function chooseRun(run, index) {
  showRun(run);
  for (const part of document.querySelectorAll("[data-run]")) part.hidden = part.dataset.run !== String(index);
  const place = $("plots");
  place.replaceChildren();
  const sections = new Map();
  for (const about of run.plots) {
    if (!sections.has(about.section)) sections.set(about.section, []);
    sections.get(about.section).push(timePlot(run, about));
  }
  if (run.spectrum) {
    const rows = run.spectrum.rows.map((row, i) => ({ ...row, color: COLORS[i], fill: i === 0, dash: i ? [5, 4] : [] }));
    const own = sections.get("Sea") ?? sections.set("Sea", []).get("Sea");
    own.push(frequencyPlot("Sea spectrum", "m² s/rad", run.spectrum.omega, rows, { xLabel: "frequency [rad/s]" }));
  }
  for (const [title, cards] of sections) place.append(plotSection(title, cards));
  for (const rao of data.raos) place.append(raoSection(rao));
  linkSections();
}

function plotSection(title, cards) {
  const id = `plots-${title.toLowerCase().replace(/[^a-z]+/g, "-")}`;
  const section = make("section", { id, class: "plot-section", "aria-label": title });
  section.append(make("h2", { text: title }), make("div", { class: "plot-grid" }, ...cards));
  return section;
}

/** Responses of one heading; others can be chosen. */
function raoSection(rao) {
  const section = plotSection("Response to regular waves", raoPlots(rao));
  if (rao.headings.length < 2) return section;
  const choice = make("select", { "aria-label": "Heading of the waves" });
  rao.headings.forEach((beta, i) => choice.append(make("option", { value: String(i), text: `${number((beta * 180) / Math.PI)}°` })));
  choice.value = String(rao.heading ?? 0);
  choice.addEventListener("change", () => {
    rao.heading = Number(choice.value);
    section.lastChild.replaceChildren(...raoPlots(rao));
  });
  section.firstChild.append(" towards ", choice);
  return section;
}

function raoPlots(rao) {
  const table = block(rao.motion);
  const cards = [];
  const n = rao.bodies.length;
  const heading = rao.heading ?? 0;
  rao.dofs.forEach((dof, k) => {
    const turns = k >= 3;
    const factor = turns ? 180 / Math.PI : 1;
    const rows = rao.bodies.map((label, i) => ({
      label,
      color: COLORS[i % COLORS.length],
      values: Float64Array.from(rao.omega, (_, r) => {
        const column = ((heading * n + i) * 6 + k) * 2;
        return factor * Math.hypot(table.value(column, r), table.value(column + 1, r));
      }),
    }));
    const top = Math.max(...rows.map((row) => Math.max(...row.values.filter(Number.isFinite), 0)));
    if (top < 1e-4) return;
    cards.push(frequencyPlot(dof, turns ? "deg/m" : "m/m", rao.omega, rows, {
      onclick: rao.clip ? (row) => playWave(rao, row) : null,
    }));
  });
  const capture = rao.capture?.[heading] ?? [];
  if (capture.length) {
    const rows = capture.map((row, i) => ({ ...row, color: COLORS[i % COLORS.length] }));
    cards.push(frequencyPlot("Capture width", "m", rao.omega, rows, { onclick: rao.clip ? (row) => playWave(rao, row) : null }));
  }
  return cards;
}

/** A click on a response plot plays the wave of that frequency. */
function playWave(rao, row) {
  const clip = waveClip(rao, rao.scene, rao.heading, row, rao.span);
  const i = clips.indexOf(rao.clip);
  clips[i] = clip;
  rao.clip = clip;
  $("clip").options[i].textContent = clip.label;
  chooseClip(clip);
  set({ playing: true });
  $("replay").scrollIntoView({ behavior: "smooth", block: "start" });
}

function linkSections() {
  const nav = $("plot-links");
  nav.replaceChildren();
  for (const section of document.querySelectorAll("#plots > section")) {
    nav.append(make("a", { href: `#${section.id}`, text: section.getAttribute("aria-label") }));
  }
}

// --- start ---------------------------------------------------------------------------------

function noPicture(reason) {
  $("stage").classList.add("empty");
  $("stage-note").textContent = reason;
  $("stage-note").hidden = false;
}

function start() {
  $("theme").addEventListener("click", turnTheme);
  gatherClips();
  if (clips.length) {
    try {
      stage = new Stage($("stage"), $("canvas"), $("labels"));
      stage.dark = theme === "dark";
    } catch (error) {
      noPicture("The 3-D picture needs WebGL, which this browser does not offer. Plots and tables work without it.");
    }
    fillClipChoice();
    $("clip").addEventListener("change", (event) => chooseClip(clips[Number(event.target.value)]));
    connect(stage ?? { look() {}, zoom() {} });
    chooseClip(clips[0]);
    if (!data.runs.length) for (const rao of data.raos) $("plots").append(raoSection(rao));
    if (!data.runs.length) linkSections();
    $("picture").addEventListener("click", savePicture);
    $("full").addEventListener("click", () => (document.fullscreenElement ? document.exitFullscreen() : $("replay").requestFullscreen?.()));
  } else {
    $("replay").hidden = true;
    if (data.raos.length) for (const rao of data.raos) $("plots").append(raoSection(rao));
    linkSections();
  }
  showTheme();
  // motion starts by itself unless the reader asked for stillness
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches || location.hash === "#paused";
  if (clips.length && clips[0].kind !== "still" && !still) set({ playing: true });
  let last = performance.now();
  let slow = 0;
  const times = [];
  requestAnimationFrame(function frame(now) {
    const passed = Math.min((now - last) / 1000, 0.25);
    last = now;
    if (clips.length) advance(passed);
    const drawn = stage?.draw();
    if (drawn && state.playing) {
      times.push(passed);
      if (times.length > 60) times.shift();
      // half a minute of slow pictures would be noticed: one second is enough to be simpler
      slow = passed > 0.035 ? slow + passed : Math.max(0, slow - 2 * passed);
      if (slow > 1.2) {
        stage.simpler();
        slow = 0;
      }
    }
    if (!drawn) stage?.rest();
    requestAnimationFrame(frame);
  });
  window.swelltree = probe(times);
}

function savePicture() {
  stage.touch();
  stage.draw();
  stage.canvas.toBlob((picture) => {
    const link = make("a", { href: URL.createObjectURL(picture), download: "swelltree.png" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
}

/** For tests and the browser's console. */
function probe(times) {
  return {
    state,
    set,
    data,
    stage,
    clips,
    chooseClip,
    frames: () => stage?.frames ?? 0,
    rate: () => (times.length ? times.length / times.reduce((sum, x) => sum + x, 0) : 0),
    quality: () => stage?.quality,
    body(name) {
      const body = stage.made.find((row) => row.name === name);
      return { position: body.group.position.toArray(), quaternion: body.group.quaternion.toArray() };
    },
    node: (line, node) => stage.lines.node(line, node, state.time),
    elevation: (t, x, y) => elevation(state.clip.waves, t, x, y),
    screen: (name) => stage.screenOf(name),
    screenAt: (point) => stage.screenAt(point),
    draw() {
      stage.touch();
      stage.draw();
    },
    pixels() {
      stage.touch();
      stage.draw();
      const copy = document.createElement("canvas");
      [copy.width, copy.height] = [64, 48];
      const pen = copy.getContext("2d");
      pen.drawImage(stage.canvas, 0, 0, 64, 48);
      return Array.from(pen.getImageData(0, 0, 64, 48).data);
    },
    cursor: () => document.querySelector("#plots .now")?.style.transform ?? "",
    number,
    HarmonicClip,
    on,
  };
}

start();
