// Water that was computed: its free surface, and hulls coloured by the pressure on them.
import { BufferAttribute, BufferGeometry, Color, DoubleSide, Group, Mesh, MeshStandardMaterial } from "three";
import { block, inflate, TimeBase } from "./blocks.js";
import { tensionColour } from "./lines.js";

function surface(faces, columns, material, mirrored, group) {
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(new Float32Array(columns), 3));
  geometry.setAttribute("color", new BufferAttribute(new Float32Array(columns), 3));
  geometry.setIndex(new BufferAttribute(new Uint16Array(inflate(faces).slice().buffer), 1));
  for (const side of mirrored ? [1, -1] : [1]) {
    const mesh = new Mesh(geometry, material);
    mesh.scale.y = side;
    mesh.frustumCulled = false;
    mesh.renderOrder = material.transparent ? 4 : 0;
    group.add(mesh);
  }
  return geometry;
}

export class Fluid {
  constructor(data, world) {
    this.data = data;
    this.time = new TimeBase(data.time);
    this.top = block(data.surface.position);
    this.hull = block(data.hull.position);
    this.pressure = block(data.hull.pressure);
    this.group = new Group();
    this.skin = new MeshStandardMaterial({ vertexColors: true, transparent: true, opacity: 0.84, roughness: 0.25, side: DoubleSide, depthWrite: false });
    // in front of the body that it lies on
    const wet = new MeshStandardMaterial({ vertexColors: true, roughness: 0.7, side: DoubleSide, polygonOffset: true, polygonOffsetFactor: -2, polygonOffsetUnits: -2 });
    this.sheet = surface(data.surface.faces, this.top.columns, this.skin, data.mirrored, this.group);
    this.shell = surface(data.hull.faces, this.hull.columns, wet, data.mirrored, this.group);
    let [low, high] = [Infinity, -Infinity];
    for (let c = 2; c < this.top.columns; c += 3) {
      for (let r = 0; r < this.top.rows; r++) {
        const z = this.top.value(c, r);
        if (z < low) low = z;
        if (z > high) high = z;
      }
    }
    this.crest = Math.max(Math.abs(low), Math.abs(high), 1e-9);
    this.colours(false);
    this.colour = new Color();
    world.add(this.group);
  }

  colours(dark) {
    this.deep = new Color(dark ? "#06202f" : "#1d5f86");
    this.light = new Color(dark ? "#1a5a74" : "#58a8c4");
  }

  /** Value of a column of a block at a time. */
  value(of, column, t) {
    const [row, part] = this.time.find(t);
    const a = of.value(column, row);
    return a + part * (of.value(column, Math.min(row + 1, of.rows - 1)) - a);
  }

  update(t) {
    this.move(this.sheet, this.top, t, (i, z) => this.colour.copy(this.deep).lerp(this.light, 0.5 + (0.5 * z) / this.crest));
    const { lowest, highest } = this.data.hull;
    this.move(this.shell, this.hull, t, (i) => tensionColour((this.value(this.pressure, i, t) - lowest) / (highest - lowest || 1), this.colour));
  }

  move(geometry, places, t, colourOf) {
    const { position, color } = geometry.attributes;
    for (let c = 0; c < places.columns; c++) position.array[c] = this.value(places, c, t);
    for (let i = 0; i < places.columns / 3; i++) {
      const { r, g, b } = colourOf(i, position.array[3 * i + 2]);
      color.array.set([r, g, b], 3 * i);
    }
    position.needsUpdate = true;
    color.needsUpdate = true;
    geometry.computeVertexNormals();
  }
}
