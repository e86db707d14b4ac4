// The 3-D stage: renderer, camera, picking, labels.
import {
  AmbientLight, Box3, BufferAttribute, BufferGeometry, Color, DirectionalLight, DoubleSide, GridHelper, Group, HemisphereLight, Mesh, MeshStandardMaterial, PerspectiveCamera,
  Raycaster, RingGeometry, Scene, Vector2, Vector3, WebGLRenderer,
} from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { make } from "./dom.js";
import { Fluid } from "./fluid.js";
import { Lines, tensionColour } from "./lines.js";
import { on, sameThing, set, state } from "./state.js";
import { Struts, bodies, joints, markerSize, placeOf } from "./things.js";
import { Water, cellOf } from "./water.js";

const GLOW = new Color("#ffd25e");
const NOTHING = new Color("#000000");
// direction from the scene to the eye
const VIEWS = {
  overview: [-0.62, -0.85, 0.52],
  side: [0, -1, 0.06],
  front: [-1, 0, 0.08],
  top: [0, -0.001, 1],
  low: [-0.75, -0.66, 0.1],
};
const WITH_LINES = [-0.62, -0.85, 0.2]; // an overview that looks through the water

/** Whether pictures are made by the processor, which is slow. */
function drawnBySoftware() {
  const gl = document.createElement("canvas").getContext("webgl2");
  const more = gl?.getExtension("WEBGL_debug_renderer_info");
  const name = more ? String(gl.getParameter(more.UNMASKED_RENDERER_WEBGL)) : "";
  gl?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

// cells of the sea along a side, and most pixels per point of the screen
const QUALITY = [
  { cells: 150, sharp: 2 },
  { cells: 84, sharp: 1 },
  { cells: 44, sharp: 0.8 },
];

/** A seabed given by depths on a grid. */
function terrain({ x, y, depth }) {
  const places = [];
  x.forEach((east, i) => y.forEach((north, j) => places.push(east, north, -depth[i][j])));
  const faces = [];
  for (let i = 0; i + 1 < x.length; i++) {
    for (let j = 0; j + 1 < y.length; j++) {
      const k = i * y.length + j;
      faces.push(k, k + y.length, k + 1, k + 1, k + y.length, k + y.length + 1);
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(new Float32Array(places), 3));
  geometry.setIndex(faces);
  geometry.computeVertexNormals();
  return new Mesh(geometry, new MeshStandardMaterial({ color: "#8d9a97", roughness: 1, side: DoubleSide }));
}

export class Stage {
  constructor(holder, canvas, labels) {
    this.holder = holder;
    this.canvas = canvas;
    this.labels = labels;
    this.software = drawnBySoftware();
    this.renderer = new WebGLRenderer({ canvas, antialias: !this.software, preserveDrawingBuffer: true });
    this.scene = new Scene();
    this.camera = new PerspectiveCamera(38, 1, 0.1, 1000);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableZoom = false; // the wheel scrolls the page until the picture is in use
    this.controls.listenToKeyEvents(canvas);
    this.controls.keyPanSpeed = 0; // arrow keys move in time
    this.controls.addEventListener("change", () => this.touch());
    canvas.addEventListener("focus", () => (this.controls.enableZoom = true));
    canvas.addEventListener("blur", () => (this.controls.enableZoom = false));
    this.lights();
    this.world = new Group();
    this.scene.add(this.world);
    this.position = new Vector3();
    this.dirty = true;
    this.frames = 0;
    this.quality = this.software ? 2 : 0;
    this.listenForPicks();
    new ResizeObserver(() => this.resize()).observe(holder);
    on("time", () => this.touch());
    on("selected", () => this.highlight());
    on("follow", () => this.startFollowing());
  }

  touch() {
    this.dirty = true;
  }

  /** Coarser sea and fewer pixels, for machines that are slow. */
  simpler() {
    if (this.quality + 1 >= QUALITY.length) return;
    this.quality += 1;
    this.water.refine(QUALITY[this.quality].cells);
    this.water.use(this.clip.waves, this.scene);
    this.water.clear(Boolean(this.lines));
    this.water.colours();
    this.resize();
  }

  lights() {
    this.hemisphere = new HemisphereLight("#ffffff", "#5f7a8c", 1.5);
    this.sun = new DirectionalLight("#fff6e6", 2.0);
    this.sun.position.set(0.35, -0.45, 0.82);
    this.scene.add(this.hemisphere, this.sun, new AmbientLight("#ffffff", 0.25));
  }

  /** Show a clip; bodies are made anew when it belongs to another scene. */
  use(clip) {
    if (this.data !== clip.scene) this.build(clip.scene);
    this.clip = clip;
    this.water.use(clip.waves, this.scene);
    this.water.clear(Boolean(this.lines));
    this.colours(this.dark);
    if (this.lines) this.lines.group.visible = ["run", "still"].includes(clip.kind);
    if (this.fluid) this.fluid.group.visible = clip.kind === "run";
    this.water.leaveOut(this.fluid?.group.visible ? this.fluid.data : null);
    this.touch();
  }

  build(data) {
    this.data = data;
    this.world.clear();
    for (const label of this.names ?? []) label.element.remove();
    const low = new Vector3(...(data.reach?.low ?? [-data.size, -data.size, -data.size]));
    const high = new Vector3(...(data.reach?.high ?? [data.size, data.size, data.size]));
    this.box = new Box3(low, high);
    if (data.lines) {
      const near = data.lines.reach;
      this.box.expandByPoint(new Vector3(...near.low)).expandByPoint(new Vector3(...near.high));
    }
    const size = this.box.getSize(new Vector3());
    this.span = Math.max(size.x, size.y, size.z, 1e-3);
    this.made = bodies(this.world, data);
    const marker = markerSize(this.made, this.span);
    this.markers = joints(data, this.made, this.world, marker);
    this.struts = new Struts(data, this.world, marker);
    this.lines = data.lines ? new Lines(data.lines, this.world) : null;
    this.fluid = data.fluid ? new Fluid(data.fluid, this.world) : null;
    if (!this.water) this.water = new Water(Math.max(size.x, size.y, 0.4 * size.z, 1e-3), QUALITY[this.quality].cells);
    this.bed(data);
    this.names = this.made.map((body) => {
      const element = make("button", { class: "tag", type: "button", tabindex: "-1", title: body.name, onclick: () => set({ selected: { kind: "body", name: body.name } }) });
      element.append(make("i"), make("span", { text: body.name }));
      element.firstChild.style.background = body.color;
      this.labels.append(element);
      return { element, body };
    });
    this.pickable = [...this.made, ...this.markers, ...this.struts.rows].map((row) => row.mesh);
    const cell = cellOf(this.water.span);
    document.getElementById("scale").textContent = `grid ${cell >= 1 ? cell : cell.toPrecision(1)} m`;
    this.resize();
    this.look("overview");
    this.highlight();
  }

  /** The seabed, where there is one near enough to be seen. */
  bed(data) {
    if (data.bed?.x) {
      this.world.add(terrain(data.bed));
      return;
    }
    if (data.depth === null || (data.depth > 6 * this.span && !data.lines)) return;
    const reach = 4.5 * this.span;
    const disc = new RingGeometry(0.001, reach, 72, 12);
    const places = disc.attributes.position;
    const tints = new Float32Array(4 * places.count);
    for (let i = 0; i < places.count; i++) {
      const away = Math.hypot(places.getX(i), places.getY(i)) / reach;
      tints.set([0.24, 0.3, 0.3, 1 - Math.min(Math.max((away - 0.45) / 0.5, 0), 1)], 4 * i);
    }
    disc.setAttribute("color", new BufferAttribute(tints, 4));
    const bed = new Mesh(disc, new MeshStandardMaterial({ vertexColors: true, transparent: true, roughness: 1, side: DoubleSide }));
    const centre = this.box.getCenter(new Vector3());
    bed.position.set(centre.x, centre.y, -data.depth - 0.004 * this.span);
    bed.renderOrder = -2;
    const cell = cellOf(this.span);
    const across = Math.ceil((2 * this.span) / cell) * cell;
    const grid = new GridHelper(across, Math.round(across / cell), "#4d6468", "#5c767a");
    grid.rotation.x = Math.PI / 2;
    grid.material.transparent = true;
    grid.material.opacity = 0.5;
    grid.renderOrder = -1;
    grid.position.copy(bed.position).setZ(-data.depth - 0.002 * this.span);
    const [along, sideways] = data.bed?.slope ?? [0, 0];
    const ground = new Group();
    ground.add(bed, grid);
    if (along || sideways) {
      // the ground rises from the origin; the disc is turned about it
      const normal = new Vector3(-along, -sideways, 1).normalize();
      const middle = new Vector3(centre.x, centre.y, -data.depth + along * centre.x + sideways * centre.y);
      bed.position.set(0, 0, -0.004 * this.span);
      grid.position.set(0, 0, -0.002 * this.span);
      ground.quaternion.setFromUnitVectors(new Vector3(0, 0, 1), normal);
      ground.position.copy(middle);
    }
    this.world.add(ground);
  }

  colours(dark) {
    this.dark = dark;
    this.scene.background = new Color(dark ? "#101a22" : "#e6f0f6");
    this.hemisphere.intensity = dark ? 1.1 : 1.6;
    this.sun.intensity = dark ? 1.6 : 2.0;
    this.water?.mesh && this.water.colours(dark);
    this.fluid?.colours(dark);
    this.touch();
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.holder;
    if (!width || !height) return;
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, QUALITY[this.quality].sharp));
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.lines?.resize(width, height);
    this.touch();
  }

  look(name) {
    const centre = this.box.getCenter(new Vector3());
    const direction = new Vector3(...(name === "overview" && this.lines ? WITH_LINES : VIEWS[name])).normalize();
    const size = this.box.getSize(new Vector3());
    const right = new Vector3().crossVectors(new Vector3(0, 0, 1), direction).normalize();
    const up = new Vector3().crossVectors(direction, right);
    const extent = (axis) => Math.abs(axis.x) * size.x + Math.abs(axis.y) * size.y + Math.abs(axis.z) * size.z;
    const half = Math.tan((0.5 * this.camera.fov * Math.PI) / 180);
    const wide = extent(right) / (2 * half * Math.max(this.camera.aspect, 0.3));
    const tall = extent(up) / (2 * half);
    const distance = 1.12 * Math.max(wide, tall) + 0.42 * extent(direction);
    this.camera.near = distance / 400;
    this.camera.far = 40 * distance;
    this.camera.position.copy(centre).addScaledVector(direction, distance);
    this.camera.updateProjectionMatrix();
    this.controls.target.copy(centre);
    this.controls.maxDistance = 12 * distance;
    this.controls.update();
    this.startFollowing();
    this.touch();
  }

  /** Nearer (below one) or farther (above one). */
  zoom(factor) {
    const away = this.camera.position.clone().sub(this.controls.target).multiplyScalar(factor);
    this.camera.position.copy(this.controls.target).add(away);
    this.controls.update();
    this.touch();
  }

  startFollowing() {
    const body = this.made?.find((row) => row.name === state.follow);
    this.followed = body ? { body, last: body.group.position.clone() } : null;
    if (body) {
      const shift = body.group.position.clone().sub(this.controls.target);
      this.controls.target.add(shift);
      this.camera.position.add(shift);
      this.controls.update();
    }
    this.touch();
  }

  /** Put everything where it is at the time of the page. */
  place(t) {
    this.made.forEach((body, i) => this.clip.pose(i, t, body.group.position, body.group.quaternion));
    this.struts.update(this.made);
    if (this.lines?.group.visible) this.lines.update(t);
    if (this.fluid?.group.visible) this.fluid.update(t);
    this.water.at(t);
    if (this.followed) {
      const shift = this.followed.body.group.position.clone().sub(this.followed.last);
      this.controls.target.add(shift);
      this.camera.position.add(shift);
      this.followed.last.copy(this.followed.body.group.position);
    }
    const centre = this.controls.target;
    this.water.move(centre.x, centre.y);
  }

  /** Draw if anything changed. */
  draw() {
    if (!this.dirty || !this.clip) return false;
    this.dirty = false;
    if (this.fine) this.sharpen(false);
    this.place(state.time);
    this.renderer.render(this.scene, this.camera);
    this.drawn = performance.now();
    this.placeLabels();
    this.frames++;
    return true;
  }

  /** A still picture of a slow machine is drawn once more with more points. */
  rest() {
    if (!this.software || this.fine || state.playing || this.dirty || !this.drawn) return;
    if (performance.now() - this.drawn < 250) return;
    this.sharpen(true);
    this.renderer.render(this.scene, this.camera);
  }

  sharpen(fine) {
    this.fine = fine;
    const { clientWidth: width, clientHeight: height } = this.holder;
    this.renderer.setPixelRatio(fine ? 1.6 : QUALITY[this.quality].sharp);
    this.renderer.setSize(width, height, false);
  }

  /** Directions of the world's axes, in the corner. */
  placeAxes() {
    const right = new Vector3(1, 0, 0).applyQuaternion(this.camera.quaternion);
    const up = new Vector3(0, 1, 0).applyQuaternion(this.camera.quaternion);
    ["x", "y", "z"].forEach((name) => {
      const [a, b] = [22 * right[name], -22 * up[name]];
      const group = document.getElementById(`axis-${name}`);
      group.firstElementChild.setAttribute("x2", a.toFixed(1));
      group.firstElementChild.setAttribute("y2", b.toFixed(1));
      group.lastElementChild.setAttribute("x", (1.32 * a).toFixed(1));
      group.lastElementChild.setAttribute("y", (1.32 * b + 3.5).toFixed(1));
    });
  }

  /** As good as it gets, for pictures to print. */
  finest() {
    this.quality = 0;
    this.software = false;
    this.water.refine(QUALITY[0].cells);
    this.use(this.clip);
    this.resize();
  }

  placeLabels() {
    this.placeAxes();
    const { clientWidth: width, clientHeight: height } = this.holder;
    const used = [];
    // the chosen body keeps its label; the others in their order, where there is room
    const chosen = (row) => row.element.classList.contains("on");
    for (const row of [...this.names].sort((a, b) => chosen(b) - chosen(a))) {
      const { element, body } = row;
      row.half ??= 0.5 * element.offsetWidth + 2;
      const p = this.position.copy(body.group.position);
      p.z += 0.45 * Math.min(body.radius, 0.2 * this.span);
      p.project(this.camera);
      const [x, y] = [(0.5 + 0.5 * p.x) * width, (0.5 - 0.5 * p.y) * height];
      const meets = ([a, b, half]) => Math.abs(a - x) < half + row.half && Math.abs(b - y) < 22;
      const hidden = p.z > 1 || used.some(meets);
      element.style.visibility = hidden ? "hidden" : "visible";
      if (!hidden) used.push([x, y, row.half]);
      element.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px) translate(-50%, -130%)`;
    }
  }

  highlight() {
    for (const row of [...(this.made ?? []), ...(this.markers ?? []), ...(this.struts?.rows ?? [])]) {
      const chosen = sameThing(row.mesh.userData.thing, state.selected);
      row.mesh.material.emissive.copy(chosen ? GLOW : NOTHING);
      row.mesh.material.emissiveIntensity = 0.38;
      if (row.lines) row.lines.material.color.copy(chosen ? GLOW : row.ink);
    }
    for (const { element, body } of this.names ?? []) {
      element.classList.toggle("on", sameThing({ kind: "body", name: body.name }, state.selected));
    }
    this.lines?.select(state.selected);
    this.touch();
  }

  /** The thing under a place of the picture, or null. */
  pick(x, y) {
    const { left, top, width, height } = this.canvas.getBoundingClientRect();
    const caster = new Raycaster();
    caster.setFromCamera(new Vector2(((x - left) / width) * 2 - 1, 1 - ((y - top) / height) * 2), this.camera);
    caster.params.Line2 = { threshold: 8 };
    const hits = caster.intersectObjects(this.pickable, false);
    if (this.lines?.group.visible) {
      for (const line of this.lines.lines) {
        line.geometry.computeBoundingBox();
        line.geometry.computeBoundingSphere();
        hits.push(...caster.intersectObject(line.mesh, false));
      }
    }
    hits.sort((p, q) => p.distance - q.distance);
    return hits[0]?.object.userData.thing ?? null;
  }

  listenForPicks() {
    let down = null;
    this.canvas.addEventListener("pointerdown", (event) => {
      down = [event.clientX, event.clientY];
      this.canvas.focus({ preventScroll: true });
    });
    this.canvas.addEventListener("pointerup", (event) => {
      if (!down || Math.hypot(event.clientX - down[0], event.clientY - down[1]) > 5) return;
      set({ selected: this.pick(event.clientX, event.clientY) });
    });
  }

  /** Where a thing is drawn on the page, in pixels. */
  screenOf(name) {
    return this.screenAt(this.made.find((row) => row.name === name).group.position.toArray());
  }

  /** Where a point of the world is drawn on the page, in pixels. */
  screenAt(point) {
    const { left, top, width, height } = this.canvas.getBoundingClientRect();
    const p = new Vector3(...point).project(this.camera);
    return [left + (0.5 + 0.5 * p.x) * width, top + (0.5 - 0.5 * p.y) * height];
  }

  where(point) {
    return placeOf(point, this.made, new Vector3()).toArray();
  }
}

export { tensionColour };
