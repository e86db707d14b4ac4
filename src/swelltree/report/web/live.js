// A running simulation: frames are received through a socket, slider values are sent back.
// Or a recording of one: its frames are in the page, and the playback bar of reports plays them.
// The 3-D view is that of reports (viewer.min.js), with a clip that reads the frames.
(() => {
  const $ = (id) => document.getElementById(id);
  const about = JSON.parse($("about").textContent);
  const view = window.swelltree;
  const { stage, state, set } = view;
  const KEPT = 400; // frames
  const SPAN = 60; // seconds of a trace
  const recorded = about.frames;
  const frames = [];
  // in a notebook there is less room
  if (window.parent !== window) document.documentElement.classList.add("framed");
  const probe = { frames, received: 0, opened: 0, sent: 0, socket: null };
  let socket = null;
  let wait = 250;

  // --- the clip ----------------------------------------------------------------------------

  /** Index of the first of some ascending times that is not before t; of the last if all are. */
  function indexOf(t, count, time) {
    let [low, high] = [0, count - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (time(middle) < t) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  const frameAt = (t) => indexOf(t, frames.length, (k) => frames[k].t);

  /** The frames before and after a time, and the fraction of the interval between them. */
  function around(t) {
    const k = frameAt(t);
    const after = frames[k];
    const before = frames[Math.max(k - 1, 0)];
    const gap = after.t - before.t;
    return [before, after, gap > 0 ? Math.min(Math.max((t - before.t) / gap, 0), 1) : 1];
  }

  const run = view.data.runs[0];
  const clip = {
    kind: "run",
    index: 0,
    run,
    label: run.label,
    scene: run.scene,
    start: 0,
    end: 1,
    waves: run.scene.waves,
    loop: false,
    step: () => (recorded ? (clip.end - clip.start) / Math.max(frames.length - 1, 1) : 0.05),
    pose(i, t, position, quaternion) {
      if (!frames.length) return;
      const [a, b, part] = around(t);
      const at = (k) => a.bodies[7 * i + k] + part * (b.bodies[7 * i + k] - a.bodies[7 * i + k]);
      position.set(at(0), at(1), at(2));
      // from one frame to the next attitudes hardly differ; opposite signs name the same one
      let dot = 0;
      for (let k = 3; k < 7; k++) dot += a.bodies[7 * i + k] * b.bodies[7 * i + k];
      const sign = dot < 0 ? -1 : 1;
      const turn = (k) => (1 - part) * a.bodies[7 * i + k] + part * sign * b.bodies[7 * i + k];
      quaternion.set(turn(4), turn(5), turn(6), turn(3)).normalize();
    },
  };

  /** Lines read the frames instead of the data blocks of the page. */
  function feedLines() {
    const lines = stage?.lines;
    if (!lines) return;
    const rows = (name, none) => ({ rows: 2, value: (column, row) => pair[row]?.[name]?.[column] ?? none });
    let pair = [];
    lines.time = {
      find(t) {
        if (!frames.length) return [0, 0];
        const [a, b, part] = around(t);
        pair = [a, b];
        return [0, part];
      },
    };
    lines.position = rows("lines", NaN);
    if (lines.tension) lines.tension = rows("tension", 0);
    lines.states = null;
  }

  // --- what is shown ------------------------------------------------------------------------

  function take(frame) {
    probe.received++;
    const last = frames[frames.length - 1];
    if (frame.anew || (last && frame.t < last.t)) frames.length = 0; // it began again
    if (last && frame.t === last.t) frames.pop();
    frames.push(frame);
    if (frames.length > KEPT) frames.shift();
    clip.end = Math.max(frame.t, 1e-6);
    if ("waves" in frame) showSea(frame.waves);
    if (frames.length === 1 && !frame.paused) shown = frame.t;
    showNumbers(frame);
  }

  function showSea(waves) {
    if (clip.waves === waves) return;
    clip.waves = waves;
    stage?.water.use(waves, stage.scene);
    stage?.colours(document.documentElement.dataset.theme === "dark");
  }

  const text = (value) => view.number(value);

  function showNumbers(frame) {
    const pause = $("live-pause");
    pause.textContent = frame.paused ? "Resume" : "Pause";
    pause.setAttribute("aria-pressed", String(frame.paused));
    $("live-clock").textContent = `t = ${frame.t.toFixed(1)} s`;
    $("live-achieved").textContent = frame.achieved ? `${frame.achieved.toFixed(frame.achieved < 10 ? 1 : 0)}× real time` : "";
    const speed = $("live-speed");
    if (document.activeElement !== speed) speed.value = String(frame.speed);
    $("message").hidden = !frame.message;
    $("message").textContent = frame.message;
    for (const given of frame.sliders) {
      if (!sliders.has(given.name)) sliders.set(given.name, makeSlider(given));
    }
    for (const slider of sliders.values()) slider.show(frame.values[slider.name]);
    showEnergy(frame.energy);
  }

  const traces = [];
  const worked = new Set(); // elements that have done work
  function showEnergy(energy) {
    const place = $("energy").querySelector("tbody");
    const rows = [["kinetic", energy.kinetic], ["stored", energy.stored]];
    for (const [name, work] of Object.entries(energy.work ?? {})) {
      if (work) worked.add(name);
      if (worked.has(name)) rows.push([`work of ${name}`, work]);
    }
    if (energy.changes) rows.push(["change by sliders", energy.changes]);
    rows.push(["energy residual", energy.residual]);
    while (place.rows.length > rows.length) place.deleteRow(-1);
    // one unit for all, so that what is small looks small
    const most = Math.max(...rows.map(([, value]) => Math.abs(value ?? 0)));
    const [unit, size] = most >= 1e7 ? ["MJ", 1e6] : most >= 1e4 ? ["kJ", 1e3] : ["J", 1];
    const digits = Math.max(0, 3 - Math.floor(Math.log10(Math.max(most / size, 1))));
    rows.forEach(([name, value], i) => {
      const row = place.rows[i] ?? place.insertRow();
      while (row.cells.length < 2) row.insertCell().className = row.cells.length === 2 ? "n" : "";
      row.cells[0].textContent = name;
      row.cells[1].textContent = value === null || value === undefined ? "–" : `${(value / size).toFixed(digits).replace(/^-(0(\.0*)?)$/, "$1").replace("-", "−")} ${unit}`;
    });
  }

  // --- sliders -----------------------------------------------------------------------------

  function makeSlider(given) {
    const label = document.createElement("label");
    const name = document.createElement("span");
    const output = document.createElement("output");
    const input = document.createElement("input");
    const unit = given.unit.replaceAll("^2", "²").replaceAll("^3", "³");
    const said = (value) => (given.full ? String(Math.round(value)) : `${text(value)} ${unit}`.trim());
    name.textContent = given.name;
    input.type = "range";
    input.min = given.low;
    input.max = given.high;
    input.step = given.full ? 1 : (given.high - given.low) / 1000;
    input.value = given.value;
    input.dataset.slider = given.name;
    input.disabled = Boolean(recorded);
    label.append(name, output, input);
    $("sliders").append(label);
    let moved = 0;
    input.addEventListener("input", () => {
      moved = performance.now();
      output.textContent = said(Number(input.value));
      send({ set: { [given.name]: Number(input.value) } });
    });
    return {
      name: given.name,
      show(value) {
        if (value === undefined || performance.now() - moved < 600) return; // the user is moving it
        output.textContent = said(value);
        if (Number(input.value) !== value) input.value = value;
      },
    };
  }
  const sliders = new Map();
  for (const list of ["names", "channels"]) {
    for (const name of about[list]) {
      const option = document.createElement("option");
      option.value = name;
      $(list).append(option);
    }
  }
  for (const form of document.querySelectorAll("form.add")) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const input = form.querySelector("input");
      if (input.value.trim()) send({ [form.dataset.wish]: input.value.trim() });
      input.value = "";
    });
  }

  // --- traces ------------------------------------------------------------------------------

  function makeTrace([name, unit], i) {
    const figure = document.createElement("figure");
    figure.className = "card figure";
    const caption = document.createElement("figcaption");
    const title = document.createElement("b");
    const output = document.createElement("output");
    const canvas = document.createElement("canvas");
    title.textContent = name;
    caption.append(title, output);
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `${name} in the last minute`);
    figure.append(caption, canvas);
    $("energy").before(figure);
    const times = [];
    const values = [];
    /** Prefix and factor of large forces, powers and energies. */
    function scale() {
      const most = values.reduce((most, value) => Math.max(most, Math.abs(value ?? 0)), 0);
      if (!/^[NWJ]/.test(unit) || most < 1e4) return ["", 1];
      return most < 1e7 ? ["k", 1e3] : ["M", 1e6];
    }
    function showValue(now) {
      const [prefix, size] = scale();
      output.textContent = Number.isFinite(now) ? `${text(now / size)} ${prefix}${unit}` : "";
    }
    return {
      add(frame) {
        if (frame.anew) times.length = values.length = 0;
        for (const row of frame.rows) {
          times.push(row[0]);
          values.push(row[i + 1]);
        }
        while (!recorded && times[0] < frame.t - SPAN) {
          times.shift();
          values.shift();
        }
        if (!recorded) showValue(values[values.length - 1]);
      },
      draw(cursor) {
        const [, size] = scale();
        if (recorded) showValue(values[indexOf(cursor, times.length, (k) => times[k])]);
        drawTrace(canvas, times, values.map((value) => (Number.isFinite(value) ? value / size : value)), cursor);
      },
    };
  }

  function themed(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  /** Round numbers from a low to a high one, with about so many steps between them. */
  function ticks(low, high, count) {
    const rough = (high - low) / count;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((n) => n * power >= rough * 0.999);
    const found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
    return found;
  }

  const short = (value) => (Math.abs(value) >= 1e5 || (value && Math.abs(value) < 1e-3) ? Number(value.toPrecision(3)).toExponential() : String(Number(value.toPrecision(6))));

  function drawTrace(canvas, times, values, cursor) {
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!width || times.length < 2) return;
    if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
    if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    const known = values.filter(Number.isFinite);
    if (!known.length) return;
    let low = known.reduce((a, b) => Math.min(a, b));
    let high = known.reduce((a, b) => Math.max(a, b));
    if (high - low < 1e-12 * Math.max(Math.abs(high), 1)) [low, high] = [low - 0.5, high + 0.5];
    const last = times[times.length - 1];
    const first = recorded ? times[0] : Math.max(last - SPAN, Math.min(times[0], last - 10), 0);
    const levels = ticks(low, high, 4);
    [low, high] = [Math.min(low, levels[0]), Math.max(high, levels[levels.length - 1])];
    const [left, foot] = [58, 18];
    const x = (t) => left + ((t - first) / Math.max(last - first, 10)) * (width - left - 4);
    const y = (v) => 6 + ((high - v) / (high - low)) * (height - foot - 12);
    pen.font = "11.5px system-ui, sans-serif";
    pen.fillStyle = themed("--soft");
    pen.strokeStyle = themed("--grid");
    pen.textAlign = "right";
    for (const v of levels) {
      pen.beginPath();
      pen.moveTo(left, y(v));
      pen.lineTo(width - 4, y(v));
      pen.stroke();
      pen.fillText(short(v), left - 6, y(v) + 4);
    }
    pen.textAlign = "center";
    for (const t of ticks(first, Math.max(last, first + 10), 5)) {
      if (x(t) < width - 16) pen.fillText(`${short(t)} s`, x(t), height - 4);
    }
    pen.strokeStyle = themed("--accent");
    pen.lineWidth = 1.6;
    pen.beginPath();
    let down = false;
    times.forEach((t, k) => {
      if (!Number.isFinite(values[k])) {
        down = false;
        return;
      }
      if (down) pen.lineTo(x(t), y(values[k]));
      else pen.moveTo(x(t), y(values[k]));
      down = true;
    });
    pen.stroke();
    if (cursor === undefined) return;
    pen.strokeStyle = themed("--soft");
    pen.lineWidth = 1;
    pen.beginPath();
    pen.moveTo(x(cursor), 6);
    pen.lineTo(x(cursor), height - foot);
    pen.stroke();
  }

  // --- a recording -------------------------------------------------------------------------

  function useRecording() {
    // what is recorded on change only is valid until the next change
    let before = { message: "", sliders: [], values: {}, traces: [], waves: run.scene.waves };
    for (const changed of recorded) {
      before = { ...before, rows: [], ...changed };
      frames.push(before);
    }
    document.documentElement.classList.add("recording");
    $("status").textContent = "recording";
    if (!frames.length) return;
    // a trace that was added later has no values before
    frames[frames.length - 1].traces.forEach((given, i) => traces.push(makeTrace(given, i)));
    for (const trace of traces) for (const frame of frames) trace.add(frame);
    clip.start = frames[0].t;
    clip.end = Math.max(frames[frames.length - 1].t, clip.start + 1e-6);
    view.on("time", showRecorded);
  }

  function showRecorded() {
    // slider values and sea of the latest frame up to this time
    let k = frameAt(state.time);
    if (k > 0 && frames[k].t > state.time + 1e-9) k--;
    const frame = frames[k];
    showSea(frame.waves);
    showNumbers(frame);
    for (const trace of traces) trace.draw(state.time);
  }

  // --- the socket --------------------------------------------------------------------------

  function send(wish) {
    if (socket?.readyState !== WebSocket.OPEN) return;
    probe.sent++;
    socket.send(JSON.stringify(wish));
  }

  function connect() {
    socket = new WebSocket(`ws://${location.host}${location.pathname}socket`);
    probe.socket = socket;
    socket.addEventListener("open", () => {
      probe.opened++;
      wait = 250;
      $("status").textContent = "running";
      $("status").classList.remove("lost");
    });
    socket.addEventListener("message", (event) => {
      const frame = JSON.parse(event.data);
      take(frame);
      frame.traces.slice(traces.length).forEach((given) => traces.push(makeTrace(given, traces.length)));
      for (const trace of traces) trace.add(frame);
      $("status").textContent = frame.paused ? "paused" : "running";
    });
    socket.addEventListener("close", () => {
      $("status").textContent = "connection lost; trying again";
      $("status").classList.add("lost");
      setTimeout(connect, wait);
      wait = Math.min(2 * wait, 4000);
    });
  }

  $("live-pause").addEventListener("click", () => send({ pause: $("live-pause").getAttribute("aria-pressed") !== "true" }));
  $("live-reset").addEventListener("click", () => send({ reset: true }));
  $("live-speed").addEventListener("change", (event) => send({ speed: Number(event.target.value) }));

  // --- frames of the picture ---------------------------------------------------------------

  let shown = 0; // s: time of the run that is drawn
  let past = performance.now();
  let drawn = 0;
  function picture(now) {
    const passed = Math.min((now - past) / 1000, 0.25);
    past = now;
    const last = frames[frames.length - 1];
    if (last) {
      // one frame behind, to interpolate; never far behind
      const pace = last.paused ? 0 : last.achieved || last.speed;
      const first = frames[Math.max(frames.length - 4, 0)];
      shown = last.paused ? last.t : Math.min(Math.max(shown + pace * passed, first.t), last.t);
      set({ time: shown });
      if (now - drawn > 100) {
        drawn = now;
        for (const trace of traces) trace.draw();
      }
    }
    requestAnimationFrame(picture);
  }

  if (recorded) useRecording();
  set({ playing: false });
  if (view.clips.length) {
    view.clips[0] = clip;
    view.chooseClip(clip);
    set({ playing: false });
    document.querySelector("aside.side").hidden = false;
    feedLines();
  }
  view.live = probe;
  if (recorded) {
    set({ time: clip.start });
    if (frames.length) showRecorded();
    addEventListener("resize", () => frames.length && showRecorded());
  } else {
    connect();
    requestAnimationFrame(picture);
  }
})();
