// The free surface: the sum of the run's own plane waves, evaluated on the graphics card.
import { BufferAttribute, BufferGeometry, Color, DoubleSide, Mesh, ShaderMaterial, Vector2, Vector3, Vector4 } from "three";

const MOST = 192;

const VERTEX = /* glsl */ `
  uniform vec4 waves[COUNT]; // amplitude, kx, ky, angle now
  uniform vec2 centre;
  attribute float spacing;
  varying vec3 place;
  varying vec2 slope;
  varying float height;
  varying float away;
  void main() {
    vec2 xy = position.xy + centre;
    height = 0.0;
    slope = vec2(0.0);
    for (int i = 0; i < COUNT; i++) {
      vec4 w = waves[i];
      // waves shorter than the grid can show fade out far from the middle
      float fine = clamp(6.2831853 / (2.5 * spacing * length(w.yz) + 1e-9) - 1.0, 0.0, 1.0);
      float angle = dot(w.yz, xy) + w.w;
      height += fine * w.x * cos(angle);
      slope -= fine * w.x * sin(angle) * w.yz;
    }
    place = vec3(xy, height);
    away = length(position.xy);
    gl_Position = projectionMatrix * viewMatrix * vec4(place, 1.0);
  }
`;

const FRAGMENT = /* glsl */ `
  uniform vec3 deep, light, sky, sun, grid;
  uniform float reach, crest, cell, cover;
  uniform vec3 hole; // where the water was computed and is drawn otherwise: centre and radius
  varying vec3 place;
  varying vec2 slope;
  varying float height;
  varying float away;
  float mesh(float size) {
    vec2 part = place.xy / size;
    vec2 near = abs(fract(part - 0.5) - 0.5) / max(fwidth(part), vec2(1e-6));
    return 1.0 - min(min(near.x, near.y), 1.0);
  }
  void main() {
    if (distance(place.xy, hole.xy) < hole.z) discard;
    vec3 normal = normalize(vec3(-slope, 1.0));
    vec3 view = normalize(cameraPosition - place);
    if (dot(normal, view) < 0.0) normal = -normal;
    float facing = max(dot(normal, view), 0.0);
    float grazing = (1.0 - facing) * (1.0 - facing);
    float fresnel = 0.04 + 0.6 * grazing * grazing;
    vec3 colour = mix(deep, light, clamp(0.5 + 0.5 * height / crest, 0.0, 1.0));
    colour += 0.22 * light * (max(dot(normal, sun), 0.0) - 0.72);
    colour = mix(colour, sky, fresnel);
    #ifndef SIMPLE
    colour += 0.35 * pow(max(dot(reflect(-sun, normal), view), 0.0), 90.0);
    #endif
    float far = length(cameraPosition - place);
    float line = mesh(cell) * clamp(1.2 - far / (40.0 * cell), 0.0, 1.0);
    colour = mix(colour, grid, 0.16 * line);
    float edge = 1.0 - smoothstep(0.55 * reach, reach, away);
    gl_FragColor = vec4(colour, cover * edge);
    #include <colorspace_fragment>
  }
`;

/** A square patch: evenly fine where the bodies are, coarser outside. */
function sheet(reach, inner, cells) {
  const half = cells / 2;
  const flat = Math.round(0.7 * half); // cells from the middle to the edge of the even part
  const fine = inner / flat;
  let growth = 1.001;
  const outside = (g) => (fine * g * (g ** (half - flat) - 1)) / (g - 1);
  while (inner + outside(growth) < reach && growth < 3) growth *= 1.01;
  const line = [];
  for (let i = 0; i <= half; i++) {
    line.push(i <= flat ? fine * i : inner + outside(growth) * ((growth ** (i - flat) - 1) / (growth ** (half - flat) - 1)));
  }
  const axis = [...line.slice(1).reverse().map((x) => -x), ...line];
  const n = axis.length;
  const places = new Float32Array(3 * n * n);
  const spacing = new Float32Array(n * n);
  const gap = axis.map((x, i) => Math.max(x - (axis[i - 1] ?? x), (axis[i + 1] ?? x) - x));
  for (let j = 0; j < n; j++) {
    for (let i = 0; i < n; i++) {
      places.set([axis[i], axis[j], 0], 3 * (j * n + i));
      spacing[j * n + i] = Math.max(gap[i], gap[j]);
    }
  }
  const faces = [];
  for (let j = 0; j + 1 < n; j++) {
    for (let i = 0; i + 1 < n; i++) {
      const k = j * n + i;
      faces.push(k, k + 1, k + n, k + 1, k + n + 1, k + n);
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(places, 3));
  geometry.setAttribute("spacing", new BufferAttribute(spacing, 1));
  geometry.setIndex(faces);
  return geometry;
}

export class Water {
  constructor(span, cells) {
    this.span = span;
    this.reach = 4.5 * span;
    this.cells = cells;
    this.mesh = null;
    this.sea = null;
    this.hole = new Vector3();
  }

  /** Leave out what was computed; null: nothing. */
  leaveOut(fluid) {
    this.hole.set(...(fluid ? [...fluid.center, fluid.radius] : [0, 0, 0]));
  }

  /** The sea of a clip; null is still water. */
  use(sea, scene) {
    this.sea = sea && sea.amplitude.length ? this.resolved(sea) : null;
    const count = Math.max(1, Math.min(MOST, this.sea?.amplitude.length ?? 1));
    const old = this.mesh;
    this.angles = Array.from({ length: count }, () => new Vector4(0, 0, 0, 0));
    const height = this.sea ? Math.hypot(...this.sea.amplitude) * 1.6 : 1;
    const material = new ShaderMaterial({
      defines: this.cells < 60 ? { COUNT: count, SIMPLE: 1 } : { COUNT: count },
      vertexShader: VERTEX,
      fragmentShader: FRAGMENT,
      transparent: true,
      depthWrite: false,
      side: DoubleSide,
      uniforms: {
        waves: { value: this.angles },
        centre: { value: old?.material.uniforms.centre.value ?? new Vector2() },
        deep: { value: new Color() },
        light: { value: new Color() },
        sky: { value: new Color() },
        grid: { value: new Color() },
        sun: { value: new Vector3(0.35, -0.45, 0.82).normalize() },
        reach: { value: this.reach },
        crest: { value: height },
        cell: { value: cellOf(this.span) },
        cover: { value: 0.84 },
        hole: { value: this.hole },
      },
    });
    const geometry = old?.geometry ?? sheet(this.reach, 1.1 * this.span, this.cells);
    this.mesh = new Mesh(geometry, material);
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = 5;
    if (old) {
      scene.remove(old);
      old.material.dispose();
    }
    scene.add(this.mesh);
    this.colours();
  }

  /** The waves that the grid can show. */
  resolved(sea) {
    const finest = (1.1 * this.span) / Math.round(0.35 * this.cells);
    const kept = sea.amplitude.map((_, i) => i).filter((i) => Math.hypot(sea.kx[i], sea.ky[i]) * 2.5 * finest < 2 * Math.PI);
    if (!kept.length) return sea;
    const rows = Object.fromEntries(["amplitude", "omega", "kx", "ky", "phase"].map((key) => [key, kept.map((i) => sea[key][i])]));
    return { ...rows, ramp: sea.ramp };
  }

  /** Coarser or finer, for slow machines. */
  refine(cells) {
    this.cells = cells;
    this.mesh?.geometry.dispose();
    if (this.mesh) this.mesh.geometry = sheet(this.reach, 1.1 * this.span, cells);
  }

  /** Seen through, water over a sandy bed would turn grey: it is bluer then. */
  clear(yes) {
    this.seenThrough = yes;
    this.mesh.material.uniforms.cover.value = yes ? 0.5 : 0.84;
  }

  colours(dark = this.dark) {
    this.dark = dark;
    const u = this.mesh.material.uniforms;
    const clear = this.seenThrough;
    u.deep.value.set(dark ? (clear ? "#02395c" : "#06202f") : clear ? "#0066b3" : "#1d5f86");
    u.light.value.set(dark ? (clear ? "#0d6c9c" : "#1a5a74") : clear ? "#2aa3e6" : "#58a8c4");
    u.sky.value.set(dark ? (clear ? "#143f5e" : "#22384a") : clear ? "#8ccdf2" : "#dcebf3");
    u.grid.value.set(dark ? "#7fb6cc" : "#ffffff");
  }

  move(x, y) {
    this.mesh.material.uniforms.centre.value.set(x, y);
  }

  at(t) {
    const sea = this.sea;
    if (!sea) return;
    const grown = sea.ramp > 0 ? 0.5 * (1 - Math.cos(Math.PI * Math.min(Math.max(t / sea.ramp, 0), 1))) : 1;
    for (let i = 0; i < this.angles.length; i++) {
      // double precision here: after an hour an angle is thousands of radians
      const angle = (sea.phase[i] - sea.omega[i] * t) % (2 * Math.PI);
      this.angles[i].set(grown * sea.amplitude[i], sea.kx[i], sea.ky[i], angle);
    }
  }
}

/** Elevation of a sea [m], as the shader draws it. */
export function elevation(sea, t, x, y) {
  if (!sea) return 0;
  const grown = sea.ramp > 0 ? 0.5 * (1 - Math.cos(Math.PI * Math.min(Math.max(t / sea.ramp, 0), 1))) : 1;
  let sum = 0;
  for (let i = 0; i < sea.amplitude.length; i++) {
    sum += sea.amplitude[i] * Math.cos(sea.kx[i] * x + sea.ky[i] * y - sea.omega[i] * t + sea.phase[i]);
  }
  return grown * sum;
}

/** Side of a cell of the drawn grid: 1, 2 or 5 times a power of ten [m]. */
export function cellOf(span) {
  const wanted = span / 12;
  const power = 10 ** Math.floor(Math.log10(wanted));
  return [1, 2, 5, 10].map((n) => n * power).find((size) => size >= wanted) ?? power;
}
