// Plots: lines in time with the cursor of the replay, and lines over frequency.
import uPlot from "uplot";
import { block, TimeBase } from "./blocks.js";
import { make, number, themed } from "./dom.js";
import { on, set, state } from "./state.js";

const live = new Set();

/** A colour of a line; lighter on dark paper, so that it stands out. */
function shade(color) {
  if (document.documentElement.dataset.theme !== "dark") return color;
  const parts = [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16));
  return `rgb(${parts.map((x) => Math.round(x + 0.32 * (255 - x))).join(" ")})`;
}

function ink() {
  return themed("--soft");
}

function axes(xLabel) {
  const font = "11.5px system-ui, sans-serif";
  const common = { stroke: ink, font, grid: { stroke: () => themed("--grid"), width: 1 }, ticks: { show: false } };
  return [
    { ...common, label: xLabel, labelFont: font, labelSize: 16, size: 30, space: 60 },
    { ...common, size: 48, space: 26, values: (_, ticks) => ticks.map((v) => tick(v, ticks)) },
  ];
}

function tick(value, ticks) {
  const size = Math.max(...ticks.map(Math.abs));
  if (size >= 1e5 || (size > 0 && size < 1e-3)) return value === 0 ? "0" : value.toExponential(1);
  return String(+value.toPrecision(6)).replace("-", "−");
}

/** A card with a heading and room for a plot. */
function card(title, unit) {
  const place = make("div", { class: "plot" });
  const element = make("figure", { class: "card figure" });
  element.append(make("figcaption", {}, make("b", { text: title }), make("span", { text: unit })), place);
  return { element, place };
}

const unseen = new Set();

/** Make a plot when it comes into view, or when the page is printed. */
function whenSeen(element, action) {
  const make = () => {
    watch.disconnect();
    if (unseen.delete(make)) action();
  };
  const watch = new IntersectionObserver((entries) => {
    if (entries.some((entry) => entry.isIntersecting)) make();
  }, { rootMargin: "300px" });
  unseen.add(make);
  watch.observe(element);
}

addEventListener("beforeprint", () => [...unseen].forEach((make) => make()));

function draw(place, options, data) {
  const plot = new uPlot({ width: Math.max(place.clientWidth, 240), height: options.height ?? 200, ...options }, data, place);
  const watch = new ResizeObserver(() => {
    if (place.clientWidth && Math.abs(place.clientWidth - plot.width) > 1) plot.setSize({ width: place.clientWidth, height: options.height ?? 200 });
  });
  watch.observe(place);
  plot.watch = watch;
  live.add(plot);
  return plot;
}

export function forget(plot) {
  plot.watch?.disconnect();
  live.delete(plot);
  plot.destroy();
}

export function redraw() {
  for (const plot of live) plot.redraw(false, true);
}

/** A line where the replay is. */
function cursorLine(plot) {
  const line = make("div", { class: "now" });
  plot.over.append(line);
  plot.now = line;
  moveCursor(plot);
}

function moveCursor(plot) {
  if (!plot.now) return;
  const x = plot.valToPos(state.time, "x");
  const inside = x >= -0.5 && x <= plot.over.clientWidth + 0.5 && state.clip?.kind === "run";
  plot.now.style.display = inside ? "block" : "none";
  plot.now.style.transform = `translateX(${x.toFixed(1)}px)`;
}

on("time", () => live.forEach(moveCursor));
on("clip", () => live.forEach(moveCursor));

let zooming = false;
function zoomTogether(plot) {
  if (zooming || !plot.inTime) return;
  zooming = true;
  const { min, max } = plot.scales.x;
  for (const other of live) if (other !== plot && other.inTime) other.setScale("x", { min, max });
  zooming = false;
  live.forEach(moveCursor);
}

/** A click in a plot moves the replay; a drag zooms. */
function seekOnClick(plot) {
  let down = null;
  plot.over.addEventListener("pointerdown", (event) => (down = event.clientX));
  plot.over.addEventListener("pointerup", (event) => {
    if (down === null || Math.abs(event.clientX - down) > 4) return;
    const x = event.clientX - plot.over.getBoundingClientRect().left;
    set({ time: Math.min(Math.max(plot.posToVal(x, "x"), state.clip.start), state.clip.end) });
  });
}

const dashes = [[], [6, 4], [2, 3]];

/** The key of a line: its colour, dashed as the line is where colours come round again. */
function swatchOf(color, i) {
  const swatch = make("i");
  const [ink, gap] = dashes[Math.floor(i / 8)] ?? [];
  swatch.style.background = ink ? `repeating-linear-gradient(90deg, ${color} 0 ${ink}px, transparent ${ink}px ${ink + gap}px)` : color;
  if (ink) swatch.className = "dashed";
  return swatch;
}

/** Plot of channels of a run in time; returns its card. */
export function timePlot(run, about) {
  const { element, place } = card(about.title, about.unit);
  const legend = make("div", { class: "legend" });
  element.append(legend);
  element.setAttribute("aria-label", `${about.title} in ${about.unit} over time`);
  whenSeen(element, () => {
    const plot = channelsInTime(place, run, about);
    element.plot = plot;
    about.series.forEach((row, i) => {
      const stats = run.channels[row.channel].stats;
      const text = about.means ? `${row.label}: mean ${number(stats[0])} ${about.unit}` : row.label;
      const button = make("button", { type: "button", class: "key", "aria-pressed": "true", title: `${row.label}: show or hide`, onclick: () => {
        const shown = !plot.series[i + 1].show;
        plot.setSeries(i + 1, { show: shown });
        button.setAttribute("aria-pressed", String(shown));
      } });
      button.append(swatchOf(row.color, i), make("span", { text }), make("output", {}));
      legend.append(button);
    });
    plot.readouts = [...legend.querySelectorAll("output")];
    if (about.series.length === 1 && !about.means) legend.classList.add("single");
  });
  return element;
}

function columnOf(run, number) {
  const channel = run.channels[number];
  return block(run.blocks[channel.block], channel.block).column(channel.column);
}

/** The plot itself, in a place. */
export function channelsInTime(place, run, about, height = 190) {
  run.times ??= new TimeBase(run.time).all();
  const data = [run.times, ...about.series.map((row) => columnOf(run, row.channel))];
  const plot = draw(place, {
    height,
    legend: { show: false },
    cursor: { drag: { x: true, y: false }, points: { size: 6 }, y: false },
    scales: { x: { time: false }, y: { range: range } },
    axes: axes("time [s]"),
    series: [{}, ...about.series.map((row, i) => ({
      label: row.label,
      stroke: () => shade(row.color),
      width: 1.6,
      dash: dashes[Math.floor(i / 8)] ?? [],
      fill: about.fill ? row.color + "22" : undefined,
      points: { show: false },
    }))],
    hooks: {
      ready: [cursorLine, seekOnClick],
      setScale: [(plot, key) => key === "x" && zoomTogether(plot)],
      setSize: [moveCursor],
      setCursor: [(plot) => {
        const i = plot.cursor.idx;
        plot.readouts?.forEach((output, k) => {
          const value = i === null || i === undefined ? null : plot.data[k + 1][i];
          output.textContent = value === null ? "" : `${number(value)} ${about.unit}`;
        });
      }],
    },
  }, data);
  plot.inTime = true;
  return plot;
}

function range(_, low, high) {
  if (low === null || high === null) return [-1, 1];
  const size = Math.max(Math.abs(low), Math.abs(high));
  const gap = high - low;
  if (gap <= 1e-9 * size || gap === 0) return [low - (size || 1) * 0.5, high + (size || 1) * 0.5];
  return [low - 0.07 * gap, high + 0.07 * gap];
}

/** Lines over frequency: sea spectrum, response amplitudes. */
export function frequencyPlot(title, unit, x, rows, more = {}) {
  const { element, place } = card(title, unit);
  element.setAttribute("aria-label", `${title} in ${unit} over frequency`);
  const legend = make("div", { class: "legend" });
  element.append(legend);
  whenSeen(element, () => {
    const plot = draw(place, {
      height: 210,
      legend: { show: false },
      cursor: { drag: { x: true, y: false }, y: false },
      scales: { x: { time: false }, y: { range: (u, low, high) => [Math.min(0, low ?? 0), (high ?? 1) * 1.08 || 1] } },
      axes: axes(more.xLabel ?? "wave frequency [rad/s]"),
      series: [{}, ...rows.map((row, i) => ({
        label: row.label, stroke: () => shade(row.color), width: 1.8, dash: row.dash ?? dashes[Math.floor(i / 8)] ?? [],
        fill: row.fill ? row.color + "22" : undefined, points: { show: x.length < 12 },
      }))],
      hooks: { setCursor: [(plot) => {
        const i = plot.cursor.idx;
        [...legend.querySelectorAll("output")].forEach((output, k) => {
          const value = i === null || i === undefined ? null : plot.data[k + 1][i];
          output.textContent = value === null ? "" : `${number(value)} ${unit}`;
        });
      }] },
    }, [x, ...rows.map((row) => row.values)]);
    if (more.onclick) {
      plot.over.addEventListener("click", () => plot.cursor.idx !== null && more.onclick(plot.cursor.idx));
    }
    rows.forEach((row, i) => {
      const key = make("span", { class: "key" });
      key.append(swatchOf(row.color, i), make("span", { text: row.label }), make("output", {}));
      legend.append(key);
    });
  });
  return element;
}
