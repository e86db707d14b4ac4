// The list of things in the scene, and the channels of the one that is chosen.
import { block, TimeBase } from "./blocks.js";
import { $, make, number } from "./dom.js";
import { channelsInTime, forget } from "./plots.js";
import { on, sameThing, set, state } from "./state.js";

const KINDS = { body: "Bodies", joint: "Joints", pto: "Power take-offs", line: "Lines", spring: "Springs", mooring: "Moorings", point: "Points", pair: "Distances", junction: "Junctions", contact: "Contacts" };

let run = null;
let rows = [];
let plot = null;
let base = null;

/** Things that have channels, by kind. */
function thingsOf(run) {
  const found = new Map();
  run.scene.bodies.forEach((body) => found.set(JSON.stringify(["body", body.name]), { kind: "body", name: body.name, color: body.color }));
  for (const { owner } of run.channels) {
    if (!owner) continue;
    const key = JSON.stringify(owner);
    if (!found.has(key)) found.set(key, { kind: owner[0], name: owner[1] });
  }
  return [...found.values()].filter((thing) => thing.kind in KINDS);
}

/** A statistic; what is nothing beside the range of the channel is zero. */
function beside(channel, i) {
  const size = Math.max(Math.abs(channel.stats[3]), Math.abs(channel.stats[4]));
  return Math.abs(channel.stats[i]) < 5e-5 * size ? 0 : channel.stats[i];
}

export function showRun(next) {
  run = next;
  base = new TimeBase(run.time);
  const list = $("things");
  list.replaceChildren();
  const things = thingsOf(run);
  for (const [kind, heading] of Object.entries(KINDS)) {
    const own = things.filter((thing) => thing.kind === kind);
    if (!own.length) continue;
    const group = make("div", { class: "thing-group", role: "group", "aria-label": heading });
    group.append(make("h3", { text: heading }));
    for (const thing of own) {
      const button = make("button", { type: "button", class: "thing", title: thing.name, "aria-pressed": "false", onclick: () =>
        set({ selected: sameThing(state.selected, thing) ? null : { kind: thing.kind, name: thing.name } }) });
      if (thing.color) {
        const dot = make("i");
        dot.style.background = thing.color;
        button.append(dot);
      }
      button.append(make("span", { text: thing.name }));
      button.thing = thing;
      group.append(button);
    }
    list.append(group);
  }
  showSelected();
}

function showSelected() {
  for (const button of document.querySelectorAll("#things .thing")) {
    button.setAttribute("aria-pressed", String(sameThing(button.thing, state.selected)));
  }
  const panel = $("chosen");
  panel.replaceChildren();
  if (plot) forget(plot);
  plot = null;
  rows = [];
  if (!run || !state.selected) {
    panel.append(make("p", { class: "hint", text: "Choose a body, joint or line here or in the picture to see its channels." }));
    return;
  }
  const { kind, name } = state.selected;
  panel.append(make("h3", { class: "chosen-name", text: name, title: name }));
  const body = kind === "body" ? run.scene.bodies.find((row) => row.name === name) : null;
  const joint = kind === "joint" ? run.scene.joints.find((row) => row.name === name) : null;
  const about = [
    body?.hull ? `hull: ${body.hull}` : "",
    body?.mass ? `mass ${number(body.mass / 1000)} t` : "",
    joint ? `${joint.type}${joint.dofs.length ? ": " + joint.dofs.join(", ") : ""}` : "",
  ].filter(Boolean).join(" · ");
  if (about) panel.append(make("p", { class: "about", text: about }));
  const place = make("div", { class: "plot small" });
  const table = make("table", { class: "channels" });
  table.append(make("thead", {}, make("tr", {}, ...["channel", "now", "least", "greatest"].map((text, i) => make("th", { text, scope: "col", class: i ? "n" : null })))));
  const content = make("tbody");
  table.append(content);
  run.channels.forEach((channel, k) => {
    if (!channel.owner || channel.owner[0] !== kind || channel.owner[1] !== name) return;
    const button = make("button", { type: "button", class: "link", text: channel.label, "aria-pressed": "false", onclick: () => show(k) });
    const now = make("td", { class: "n" });
    content.append(make("tr", {}, make("td", {}, button, make("small", { text: ` ${channel.unit}` })), now,
      make("td", { class: "n", text: number(beside(channel, 3)) }), make("td", { class: "n", text: number(beside(channel, 4)) })));
    rows.push({ k, now, button, channel });
  });
  if (!rows.length) {
    panel.append(make("p", { class: "hint", text: "No channels were stored for it." }));
    return;
  }
  panel.append(place, make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Channels" }, table));
  const most = rows.find(({ channel }) => channel.label === "Heave") ?? rows[0];
  function show(k) {
    if (plot) forget(plot);
    const channel = run.channels[k];
    plot = channelsInTime(place, run, { title: channel.label, unit: channel.unit, series: [{ channel: k, label: channel.label, color: "#2f6fb0" }] }, 170);
    for (const row of rows) row.button.setAttribute("aria-pressed", String(row.k === k));
  }
  show(most.k);
  showNow();
}

/** Values of the chosen thing at the time of the replay. */
function showNow() {
  if (!rows.length || state.clip?.kind !== "run") return;
  const [i, part] = base.find(state.time);
  for (const { now, channel } of rows) {
    const table = block(run.blocks[channel.block], channel.block);
    const a = table.value(channel.column, i);
    const b = table.value(channel.column, Math.min(i + 1, table.rows - 1));
    now.textContent = number(a + part * (b - a));
  }
}

let last = 0;
on("selected", showSelected);
on("time", () => {
  // ten times a second is as much as one can read
  const t = performance.now();
  if (state.playing && t - last < 100) return;
  last = t;
  showNow();
});
