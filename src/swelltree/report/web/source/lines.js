// Mooring lines and cables: coloured by tension; slack and grounded parts are told apart.
import { Color, Group } from "three";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { LineSegments2 } from "three/examples/jsm/lines/LineSegments2.js";
import { LineSegmentsGeometry } from "three/examples/jsm/lines/LineSegmentsGeometry.js";
import { block, TimeBase } from "./blocks.js";

const SLACK = new Color("#9aa7b2");
const GROUNDED = new Color("#7a4f1d");
// from low to high tension
const RAMP = ["#2b83ba", "#5bb8a8", "#c7e07a", "#fdae61", "#d7191c"].map((c) => new Color(c));

export function tensionColour(part, out = new Color()) {
  const x = Math.min(Math.max(part, 0), 1) * (RAMP.length - 1);
  const i = Math.min(Math.floor(x), RAMP.length - 2);
  return out.copy(RAMP[i]).lerp(RAMP[i + 1], x - i);
}

export class Lines {
  constructor(data, scene) {
    this.data = data;
    this.time = new TimeBase(data.time);
    this.position = block(data.position);
    this.tension = data.tension ? block(data.tension) : null;
    this.states = data.state ? block(data.state) : null;
    this.segments = data.nodes - 1;
    this.group = new Group();
    this.lines = data.names.map((name, i) => {
      const geometry = new LineSegmentsGeometry();
      geometry.setPositions(new Float32Array(6 * this.segments));
      geometry.setColors(new Float32Array(6 * this.segments));
      const material = new LineMaterial({ vertexColors: true, linewidth: 3.2, transparent: true });
      const line = new LineSegments2(geometry, material);
      line.frustumCulled = false;
      line.renderOrder = 6; // after the water: tension keeps its colour
      line.userData.thing = { kind: "line", name };
      this.group.add(line);
      return { name, i, mesh: line, geometry, material };
    });
    scene.add(this.group);
    this.colour = new Color();
  }

  /** Position of a node of a line at a time [m]. */
  node(line, node, t) {
    const [row, part] = this.time.find(t);
    const next = Math.min(row + 1, this.position.rows - 1);
    const first = 3 * (line * this.data.nodes + node);
    return [0, 1, 2].map((k) => {
      const a = this.position.value(first + k, row);
      return a + part * (this.position.value(first + k, next) - a);
    });
  }

  update(t) {
    const [row] = this.time.find(t);
    const highest = this.data.highest || 1;
    for (const line of this.lines) {
      const places = line.geometry.attributes.instanceStart.data;
      const colours = line.geometry.attributes.instanceColorStart.data;
      let before = this.node(line.i, 0, t);
      for (let s = 0; s < this.segments; s++) {
        const after = this.node(line.i, s + 1, t);
        const whole = after.every(Number.isFinite) && before.every(Number.isFinite);
        places.array.set(whole ? [...before, ...after] : [0, 0, -1e6, 0, 0, -1e6], 6 * s);
        const state = this.states ? Math.round(this.states.value(line.i * this.segments + s, row)) : 0;
        const T = this.tension ? this.tension.value(line.i * this.data.segments + Math.min(s, this.data.segments - 1), row) : 0;
        const c = state === 1 ? SLACK : state === 2 ? GROUNDED : tensionColour(T / highest, this.colour);
        colours.array.set([c.r, c.g, c.b, c.r, c.g, c.b], 6 * s);
        before = after;
      }
      places.needsUpdate = true;
      colours.needsUpdate = true;
    }
  }

  resize(width, height) {
    for (const line of this.lines) line.material.resolution.set(width, height);
  }

  select(thing) {
    for (const line of this.lines) {
      line.material.linewidth = thing?.kind === "line" && thing.name === line.name ? 6 : 3.2;
    }
  }
}
