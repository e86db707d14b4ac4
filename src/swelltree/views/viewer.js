// A small 3-D viewer on a plain canvas: perspective, faces sorted by depth, no libraries.
(function () {
  "use strict";
  const scene = JSON.parse(document.getElementById("scene").textContent);
  const canvas = document.getElementById("view"), ctx = canvas.getContext("2d");
  const get = (id) => document.getElementById(id);
  const slider = get("slider"), clock = get("clock"), button = get("play"), speed = get("speed");
  const T = scene.time, N = scene.bodies.length, end = T[T.length - 1];

  // --- vectors --------------------------------------------------------------------------------
  const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
  const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
  const mul = (a, k) => [a[0] * k, a[1] * k, a[2] * k];
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const unit = (a) => mul(a, 1 / (Math.hypot(...a) || 1));
  const mix = (a, b, k) => a.map((x, i) => x + k * (b[i] - x));
  const turn = (q, v) => {
    const u = [q[1], q[2], q[3]], w = mul(cross(u, v), 2);
    return add(add(v, mul(w, q[0])), cross(u, w));
  };

  // --- pose of every body at a time, between keyframes ------------------------------------------
  let now = 0, playing = true, labels = false;
  function poses(t) {
    let lo = 0, hi = T.length - 1;
    while (hi - lo > 1) { const m = (lo + hi) >> 1; if (T[m] <= t) lo = m; else hi = m; }
    const k = hi > lo ? Math.min(1, Math.max(0, (t - T[lo]) / (T[hi] - T[lo]))) : 0;
    const out = [];
    for (let i = 0; i < N; i++) {
      const a = scene.quaternion[lo][i];
      let b = scene.quaternion[hi][i];
      if (a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] < 0) b = b.map((x) => -x);
      const q = mix(a, b, k), n = Math.hypot(...q);
      out.push({ p: mix(scene.position[lo][i], scene.position[hi][i], k), q: q.map((x) => x / n) });
    }
    const tension = scene.springs.length ? mix(scene.tension[lo], scene.tension[hi], k) : [];
    return { bodies: out, tension };
  }
  const at = (pose, place) =>
    place.body < 0 ? place.point : add(pose.bodies[place.body].p, turn(pose.bodies[place.body].q, place.point));

  // --- extent of the whole run --------------------------------------------------------------------
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  const grow = (p) => { for (let i = 0; i < 3; i++) { low[i] = Math.min(low[i], p[i]); high[i] = Math.max(high[i], p[i]); } };
  const stride = Math.max(1, Math.floor(T.length / 40));
  for (let f = 0; f < T.length; f += stride) {
    const pose = poses(T[f]);
    scene.bodies.forEach((b, i) => b.vertices.forEach((v, j) => { if (j % 3 === 0) grow(at(pose, { body: i, point: v })); }));
    if (f === 0) scene.springs.forEach((s) => { grow(at(pose, s.a)); grow(at(pose, s.b)); });
    if (f === 0) scene.joints.forEach((j) => grow(at(pose, j.base)));
  }
  const wet = low[2] < 0 || scene.depth !== null, top = Math.max(high[2], wet ? 0 : high[2]);
  const middle = [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, (low[2] + top) / 2];
  const size = Math.max(1e-3, Math.hypot(high[0] - low[0], high[1] - low[1], top - low[2]));
  const flat = Math.max(high[0] - low[0], high[1] - low[1], 0.6 * size);
  let floor = scene.springs.flatMap((s) => [s.a, s.b]).filter((e) => e.body < 0).map((e) => e.point[2]);
  floor = scene.depth !== null && scene.depth < 2 * size ? -scene.depth : floor.length ? Math.min(...floor) : null;
  if (floor !== null && floor > low[2] + 1e-6 && floor >= 0) floor = null;
  const strongest = Math.max(1e-9, ...scene.tension.flat().map(Math.abs));

  // --- camera -------------------------------------------------------------------------------------
  const home = { yaw: -1.05, pitch: scene.waves ? 0.3 : 0.33, distance: (scene.waves ? 1.58 : 1.75) * size, target: middle.slice() };
  let camera = JSON.parse(JSON.stringify(home)), W = 1, H = 1, scale = 1, axes = null, eye = null;
  function aim() {
    const c = Math.cos(camera.pitch), back = [c * Math.cos(camera.yaw), c * Math.sin(camera.yaw), Math.sin(camera.pitch)];
    const right = [-Math.sin(camera.yaw), Math.cos(camera.yaw), 0];
    axes = { back, right, up: cross(back, right) };
    eye = add(camera.target, mul(back, camera.distance));
  }
  const near = () => 0.02 * camera.distance;
  const seen = (p) => { const d = sub(p, eye); return [dot(d, axes.right), dot(d, axes.up), -dot(d, axes.back)]; };
  const flatten = (c) => [W / 2 + (scale * c[0]) / c[2], H / 2 - (scale * c[1]) / c[2]];
  // cut a polygon at the near plane so that nothing behind the eye is drawn
  function clipped(points) {
    const n = near(), out = [];
    for (let i = 0; i < points.length; i++) {
      const a = points[i], b = points[(i + 1) % points.length];
      if (a[2] > n) out.push(a);
      if ((a[2] > n) !== (b[2] > n)) out.push(mix(a, b, (n - a[2]) / (b[2] - a[2])));
    }
    return out;
  }

  // --- the sea: incident waves on a grid ------------------------------------------------------------
  const sea = scene.waves;
  let over = true; // the eye is above the water
  const reach = 0.66 * flat, cells = sea ? Math.min(72, Math.max(24, Math.round((2 * reach) / (sea.shortest / 9)))) : 0;
  const wide = sea ? [reach, Math.min(reach, Math.max(0.5 * reach, high[1] - low[1]))] : [reach, reach];
  const count = [cells + 1, Math.max(2, Math.round((cells * wide[1]) / wide[0])) + 1];
  const surfaceX = (i) => middle[0] - wide[0] + (2 * wide[0] * i) / (count[0] - 1);
  const surfaceY = (j) => middle[1] - wide[1] + (2 * wide[1] * j) / (count[1] - 1);
  const heights = sea ? new Float32Array(count[0] * count[1]) : null;
  // cos and sin of k.x at every node, so that a frame needs only products
  let nodes = null;
  if (sea) {
    nodes = sea.amplitude.map((a, c) => {
      const re = new Float32Array(heights.length), im = new Float32Array(heights.length);
      for (let i = 0; i < count[0]; i++) for (let j = 0; j < count[1]; j++) {
        const phase = sea.kx[c] * surfaceX(i) + sea.ky[c] * surfaceY(j) + sea.phase[c];
        re[i * count[1] + j] = a * Math.cos(phase); im[i * count[1] + j] = a * Math.sin(phase);
      }
      return { re, im };
    });
  }
  function raiseSea(t) {
    heights.fill(0);
    const grown = sea.ramp > 0 && t < sea.ramp ? 0.5 * (1 - Math.cos((Math.PI * t) / sea.ramp)) : 1;
    nodes.forEach(({ re, im }, c) => {
      const p = grown * Math.cos(sea.omega[c] * t), q = grown * Math.sin(sea.omega[c] * t);
      for (let n = 0; n < heights.length; n++) heights[n] += re[n] * p + im[n] * q;
    });
  }
  // height of the surface at a place, between the nodes; still water outside the grid
  function level(p) {
    if (!sea) return 0;
    const u = ((p[0] - middle[0] + wide[0]) / (2 * wide[0])) * (count[0] - 1);
    const v = ((p[1] - middle[1] + wide[1]) / (2 * wide[1])) * (count[1] - 1);
    if (!(u >= 0 && v >= 0 && u <= count[0] - 1 && v <= count[1] - 1)) return 0;
    const i = Math.min(count[0] - 2, Math.floor(u)), j = Math.min(count[1] - 2, Math.floor(v));
    const a = u - i, b = v - j, n = i * count[1] + j, m = n + count[1];
    return (1 - a) * ((1 - b) * heights[n] + b * heights[n + 1]) + a * ((1 - b) * heights[m] + b * heights[m + 1]);
  }
  const above = (p) => p[2] - level(p);

  // --- drawing --------------------------------------------------------------------------------------
  const sun = unit([0.35, -0.5, 0.9]);
  const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  const css = (c, a) => `rgba(${c.map((x) => Math.round(x)).join(",")},${a === undefined ? 1 : a})`;
  const SEA = [36, 118, 160], DEEP = [19, 66, 96], SAND = [214, 200, 170];
  function path(points) {
    ctx.beginPath();
    points.forEach((c, i) => { const p = flatten(c); if (i) ctx.lineTo(p[0], p[1]); else ctx.moveTo(p[0], p[1]); });
  }
  function polygon(points, fill, edge, width) {
    const cut = clipped(points.map(seen));
    if (cut.length < 3) return;
    path(cut); ctx.closePath();
    ctx.fillStyle = fill; ctx.fill();
    if (edge) { ctx.strokeStyle = edge; ctx.lineWidth = width || 1; ctx.stroke(); }
  }
  function line(a, b, color, width) {
    let p = seen(a), q = seen(b);
    const n = near();
    if (p[2] < n && q[2] < n) return;
    if (p[2] < n) p = mix(p, q, (n - p[2]) / (q[2] - p[2]));
    if (q[2] < n) q = mix(q, p, (n - q[2]) / (p[2] - q[2]));
    path([p, q]); ctx.strokeStyle = color; ctx.lineWidth = width; ctx.stroke();
  }
  function dotAt(p, radius, fill, edge) {
    const c = seen(p);
    if (c[2] < near()) return;
    const f = flatten(c);
    ctx.beginPath(); ctx.arc(f[0], f[1], radius, 0, 7); ctx.fillStyle = fill; ctx.fill();
    if (edge) { ctx.strokeStyle = edge; ctx.lineWidth = 1.2; ctx.stroke(); }
  }
  function sheet(z, fill, stroke, reach) {
    const [cx, cy] = middle, r = reach * flat;
    polygon([[cx - r, cy - r, z], [cx + r, cy - r, z], [cx + r, cy + r, z], [cx - r, cy + r, z]], fill);
    const step = Math.pow(10, Math.round(Math.log10(r / 4))) / (r < 20 ? 1 : 2);
    for (let k = Math.ceil(-r / step); k * step <= r; k++) {
      line([cx + k * step, cy - r, z], [cx + k * step, cy + r, z], stroke, 1);
      line([cx - r, cy + k * step, z], [cx + r, cy + k * step, z], stroke, 1);
    }
  }
  // the part of a face above (1) or under (-1) the surface
  function half(points, side) {
    const out = [], h = points.map(above);
    points.forEach((a, i) => {
      const j = (i + 1) % points.length;
      if (side * h[i] >= 0) out.push(a);
      if (h[i] * h[j] < 0) out.push(mix(a, points[j], h[i] / (h[i] - h[j])));
    });
    return out;
  }
  // the wavy surface as quadrangles, far ones first, and a skirt that shows its profile
  const node = (i, j) => [surfaceX(i), surfaceY(j), heights[i * count[1] + j]];
  function wavy() {
    const tall = sea.highest, quads = [];
    for (let i = 0; i < count[0] - 1; i++) for (let j = 0; j < count[1] - 1; j++) {
      const points = [node(i, j), node(i + 1, j), node(i + 1, j + 1), node(i, j + 1)];
      const normal = unit(cross(sub(points[2], points[0]), sub(points[3], points[1])));
      const center = mix(points[0], points[2], 0.5), view = unit(sub(eye, center));
      // light from the sun, brighter crests, and more sky where one looks along the water
      const glance = Math.pow(1 - Math.min(1, Math.abs(dot(normal, view))), 3);
      const lit = 0.5 + 5 * (dot(normal, sun) - sun[2]) + 0.3 * (center[2] / tall);
      let color = mix(DEEP, SEA, Math.min(1.5, Math.max(-0.2, lit)));
      color = mix(color, [222, 236, 244], Math.min(0.7, 0.06 + 0.5 * glance));
      quads.push({ depth: dot(sub(center, eye), axes.back), points, fill: css(color) });
    }
    quads.sort((p, q) => p.depth - q.depth);
    for (const q of quads) polygon(q.points, q.fill, q.fill, 0.8);
  }
  function skirt() {
    const bottom = -Math.max(3 * sea.highest, 0.035 * size);
    const sides = [
      [[1, 0, 0], (k) => node(count[0] - 1, k), count[1]], [[-1, 0, 0], (k) => node(0, k), count[1]],
      [[0, 1, 0], (k) => node(k, count[1] - 1), count[0]], [[0, -1, 0], (k) => node(k, 0), count[0]],
    ];
    for (const [normal, edge, n] of sides) {
      const line = [...Array(n).keys()].map(edge);
      if (dot(normal, sub(eye, line[0])) <= 0) continue;
      const low = [line[n - 1], line[0]].map((p) => [p[0], p[1], bottom]);
      const shade = Math.abs(normal[0]) ? 0.86 : 1;
      polygon([...line, ...low], css(mix(DEEP, SEA, 0.35).map((x) => x * shade)), css(DEEP, 0.5), 1);
    }
  }
  function items(pose) {
    const list = [];
    const put = (z, center, draw) => list.push({ z, depth: dot(sub(center, eye), axes.back), draw });
    scene.bodies.forEach((body, i) => {
      const color = rgb(body.color), world = body.vertices.map((v) => at(pose, { body: i, point: v }));
      for (const face of body.faces) {
        const points = face.map((j) => world[j]);
        const center = mul(points.reduce(add), 1 / points.length);
        const normal = unit(cross(sub(points[2], points[0]), sub(points[3] || points[1], points[1])));
        if (dot(normal, sub(eye, center)) <= 0) continue;
        const light = 0.52 + 0.48 * Math.max(0, dot(normal, sun)) + 0.1 * normal[2];
        for (const [part, under] of wet ? [[half(points, 1), false], [half(points, -1), true]] : [[points, false]]) {
          if (part.length < 3) continue;
          const lit = color.map((x, n) => Math.min(255, (under ? 0.78 * x + 0.22 * SEA[n] : x) * light + 8));
          const draw = (a) => polygon(part, css(lit, a), css(lit.map((x) => (a === undefined ? 0.72 : 0.9) * x), a), a === undefined ? 1 : 0.5);
          put(under ? -1e-9 : 0, center, draw);
        }
      }
    });
    scene.springs.forEach((s, i) => {
      const a = at(pose, s.a), b = at(pose, s.b), pull = Math.max(0, pose.tension[i]) / strongest;
      const color = css(mix([120, 140, 155], [226, 92, 40], Math.sqrt(pull)), 0.95);
      for (let k = 0; k < 10; k++) {
        const p = mix(a, b, k / 10), q = mix(a, b, (k + 1) / 10), m = mix(p, q, 0.5);
        put(above(m), m, () => line(p, q, color, 1.4 + 1.4 * pull));
      }
      for (const e of [s.a, s.b]) if (e.body < 0) { const p = at(pose, e); put(above(p), p, () => dotAt(p, 3.5, "#5d4a2f", "#fff")); }
    });
    scene.joints.forEach((j) => {
      const a = at(pose, j.base), b = at(pose, j.follower);
      const nearer = (p) => add(p, mul(axes.back, 0.01 * size));
      // in waves a joint at the waterline must not come and go
      const side = (p) => (sea && over ? Math.max(0, above(p)) : above(p));
      for (const [e, p] of [[j.base, a], [j.follower, b]]) {
        if (e.body < 0) continue;
        const c = at(pose, { body: e.body, point: scene.bodies[e.body].center });
        // arms are drawn behind every shape: inside their own body they stay hidden
        put(side(p), add(p, mul(axes.back, -10 * size)), () => line(p, c, "rgba(40,55,68,.85)", 2.2));
      }
      put(side(a), a, () => line(a, b, "rgba(40,55,68,.9)", 2.2));
      put(side(b), nearer(b), () => dotAt(b, 3.6, "#fff", "#22303c"));
    });
    return list.sort((p, q) => p.depth - q.depth);
  }
  function draw() {
    aim();
    ctx.setTransform(W / canvas.clientWidth, 0, 0, W / canvas.clientWidth, 0, 0);
    const ratio = W / canvas.clientWidth;
    const w = W, h = H; W = w / ratio; H = h / ratio; scale = 2.1 * Math.min(W / 1.5, H);
    const sky = ctx.createLinearGradient(0, 0, 0, H);
    sky.addColorStop(0, "#f4f8fb"); sky.addColorStop(1, wet ? "#cfe1ea" : "#e9eff3");
    ctx.fillStyle = sky; ctx.fillRect(0, 0, W, H);
    ctx.lineJoin = ctx.lineCap = "round";
    if (sea) raiseSea(now);
    over = eye[2] > 0;
    const pose = poses(now), list = items(pose);
    const surface = () => { if (sea) wavy(); else if (wet) sheet(0, css(SEA, 0.16), css(DEEP, 0.13), 0.72); };
    if (floor !== null && eye[2] > floor) sheet(floor, css(SAND, 0.75), "rgba(120,100,60,.16)", 0.72);
    // what lies beyond the surface first, then the surface, then what is on the eye's side
    const far = list.filter((i) => wet && (over ? i.z < 0 : i.z >= 0));
    far.forEach((i) => i.draw());
    surface();
    if (sea) {
      // the water is not clear: what lies under it shines through
      if (over) far.filter((i) => i.draw.length).forEach((i) => i.draw(0.16));
      skirt();
    }
    list.filter((i) => !far.includes(i)).forEach((i) => i.draw());
    if (labels) scene.bodies.forEach((b, i) => {
      const c = seen(at(pose, { body: i, point: b.center }));
      if (c[2] < near()) return;
      const p = flatten(c);
      ctx.font = "600 12px system-ui, sans-serif"; ctx.textAlign = "center";
      ctx.lineWidth = 4; ctx.strokeStyle = "rgba(255,255,255,.85)"; ctx.strokeText(b.name, p[0], p[1] - 14);
      ctx.fillStyle = "#22303c"; ctx.fillText(b.name, p[0], p[1] - 14);
    });
    triad();
    W = w; H = h;
  }
  function triad() {
    const o = [38, H - 38];
    [["x", [1, 0, 0], "#c8553d"], ["y", [0, 1, 0], "#2a9d7c"], ["z", [0, 0, 1], "#2f6fb0"]]
      .map(([n, v, c]) => [n, dot(v, axes.right) * 24, -dot(v, axes.up) * 24, c])
      .forEach(([n, x, y, c]) => {
        ctx.beginPath(); ctx.moveTo(...o); ctx.lineTo(o[0] + x, o[1] + y);
        ctx.strokeStyle = c; ctx.lineWidth = 2; ctx.stroke();
        ctx.fillStyle = c; ctx.font = "600 11px system-ui, sans-serif"; ctx.textAlign = "center";
        ctx.fillText(n, o[0] + 1.32 * x, o[1] + 1.32 * y + 4);
      });
  }

  // --- time and controls ------------------------------------------------------------------------------
  function show() {
    slider.value = now; clock.textContent = now.toFixed(2) + " s";
    draw();
  }
  function resize() {
    const ratio = window.devicePixelRatio || 1;
    canvas.width = W = Math.round(canvas.clientWidth * ratio);
    canvas.height = H = Math.round(canvas.clientHeight * ratio);
    show();
  }
  let last = null;
  function tick(stamp) {
    if (playing) {
      if (last !== null) now += (Math.min(stamp - last, 100) / 1000) * Number(speed.value);
      if (now > end) now = T[0];
      show();
    }
    last = stamp;
    requestAnimationFrame(tick);
  }
  function play(on) { playing = on; button.textContent = on ? "Pause" : "Play"; button.setAttribute("aria-pressed", on); }
  slider.min = T[0]; slider.max = end; slider.step = (end - T[0]) / 2000 || 1;
  slider.addEventListener("input", () => { play(false); now = Number(slider.value); show(); });
  button.addEventListener("click", () => play(!playing));
  get("reset").addEventListener("click", () => { camera = JSON.parse(JSON.stringify(home)); show(); });
  get("names").addEventListener("click", () => { labels = !labels; show(); });
  const held = new Map();
  canvas.addEventListener("pointerdown", (e) => { canvas.setPointerCapture(e.pointerId); held.set(e.pointerId, e); });
  canvas.addEventListener("pointerup", (e) => held.delete(e.pointerId));
  canvas.addEventListener("pointercancel", (e) => held.delete(e.pointerId));
  canvas.addEventListener("pointermove", (e) => {
    const before = held.get(e.pointerId);
    if (!before) return;
    const dx = e.clientX - before.clientX, dy = e.clientY - before.clientY;
    if (held.size === 2) {
      const other = [...held.values()].find((h) => h.pointerId !== e.pointerId);
      const gap = (p) => Math.hypot(p.clientX - other.clientX, p.clientY - other.clientY);
      camera.distance *= gap(before) / Math.max(1, gap(e));
    } else if (e.shiftKey || e.buttons & 6) {
      const k = camera.distance / (2.1 * canvas.clientHeight);
      camera.target = add(camera.target, add(mul(axes.right, -dx * k), mul(axes.up, dy * k)));
    } else {
      camera.yaw -= 0.006 * dx;
      camera.pitch = Math.min(1.55, Math.max(-1.55, camera.pitch + 0.006 * dy));
    }
    held.set(e.pointerId, e); show();
  });
  canvas.addEventListener("contextmenu", (e) => e.preventDefault());
  canvas.addEventListener("wheel", (e) => {
    e.preventDefault();
    camera.distance = Math.min(20 * size, Math.max(0.05 * size, camera.distance * Math.exp(0.001 * e.deltaY)));
    show();
  }, { passive: false });
  window.addEventListener("keydown", (e) => {
    if (e.code === "Space" && e.target.tagName !== "BUTTON") { e.preventDefault(); play(!playing); }
  });
  window.addEventListener("resize", resize);
  // report.html#t=60 opens at that time, standing still
  const asked = /^#t=([\d.]+)$/.exec(window.location.hash);
  if (asked) now = Math.min(end, Math.max(T[0], Number(asked[1])));
  play(!asked && !window.matchMedia("(prefers-reduced-motion: reduce)").matches);
  resize(); requestAnimationFrame(tick);
})();
