// Bodies, joints, power take-offs and springs as three.js objects.
import {
  BufferAttribute, BufferGeometry, Color, CylinderGeometry, EdgesGeometry, Group, LineBasicMaterial, LineSegments,
  Mesh, MeshStandardMaterial, BoxGeometry, Quaternion, SphereGeometry, TorusGeometry, Vector3,
} from "three";
import { toCreasedNormals } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import { inflate } from "./blocks.js";

const UP = new Vector3(0, 1, 0);

/** Vertices and triangles of a packed shape. */
export function unpack(shape) {
  const vertices = new Uint16Array(inflate(shape.vertices).slice().buffer);
  const faces = new Uint16Array(inflate(shape.faces).slice().buffer);
  const places = new Float32Array(vertices.length);
  for (let i = 0; i < vertices.length; i++) {
    places[i] = shape.low[i % 3] + (shape.size[i % 3] * vertices[i]) / 65535;
  }
  const index = [];
  for (let i = 0; i < faces.length; i += 4) {
    const [a, b, c, d] = faces.subarray(i, i + 4);
    index.push(a, b, c);
    if (d !== c && d !== a) index.push(a, c, d);
  }
  return { places, index };
}

/** Geometry with sharp edges where faces meet at an angle. */
function geometryOf(shape) {
  const { places, index } = unpack(shape);
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(places, 3));
  geometry.setIndex(index);
  const edges = new EdgesGeometry(geometry, 28);
  return { solid: toCreasedNormals(geometry, 0.6), edges };
}

export function bodies(scene, data) {
  const shapes = data.shapes.map(geometryOf);
  return data.bodies.map((body) => {
    const group = new Group();
    const colour = new Color(body.color);
    const { solid, edges } = shapes[body.shape];
    const mesh = new Mesh(solid, new MeshStandardMaterial({ color: colour, roughness: 0.62, metalness: 0.05 }));
    mesh.userData.thing = { kind: "body", name: body.name };
    const ink = colour.clone().offsetHSL(0, 0.02, -0.22);
    const lines = new LineSegments(edges, new LineBasicMaterial({ color: ink }));
    group.add(mesh, lines);
    scene.add(group);
    solid.computeBoundingSphere();
    return { ...body, group, mesh, lines, colour, ink, radius: solid.boundingSphere.radius };
  });
}

/** Least size of bodies, by which markers are drawn [m]. */
export function markerSize(made, span) {
  const sizes = made.map((body) => body.radius).sort((p, q) => p - q);
  const usual = sizes.length ? sizes[Math.floor(sizes.length / 2)] : span;
  return Math.max(0.06 * Math.min(usual, span), 0.006 * span);
}

function steel(colour = "#56626e") {
  return new MeshStandardMaterial({ color: colour, roughness: 0.4, metalness: 0.4 });
}

/** Markers of joints, fixed on the base body, and rings of power take-offs on joints. */
export function joints(data, made, world, size) {
  const out = [];
  for (const joint of data.joints) {
    if (["free", "planar", "subset"].includes(joint.type)) continue;
    const parent = joint.base.body < 0 ? world : made[joint.base.body].group;
    const holder = new Group();
    holder.position.set(...joint.base.point);
    holder.quaternion.copy(new Quaternion().setFromUnitVectors(UP, new Vector3(...joint.axis).normalize()));
    let marker;
    if (["hinge", "cylindrical", "screw", "universal"].includes(joint.type)) {
      marker = new Mesh(new CylinderGeometry(0.55 * size, 0.55 * size, 5 * size, 24), steel());
    } else if (joint.type === "slider") {
      marker = new Mesh(new BoxGeometry(0.7 * size, 6 * size, 0.7 * size), steel());
    } else if (joint.type === "weld") {
      marker = new Mesh(new BoxGeometry(size, size, size), steel());
    } else {
      marker = new Mesh(new SphereGeometry(0.9 * size, 24, 16), steel());
    }
    marker.userData.thing = { kind: "joint", name: joint.name };
    holder.add(marker);
    parent.add(holder);
    out.push({ ...joint, kind: "joint", mesh: marker });
    for (const pto of data.ptos) {
      if (pto.joint !== joint.name) continue;
      const ring = new Mesh(new TorusGeometry(1.5 * size, 0.42 * size, 12, 32), steel("#d99a17"));
      ring.rotation.x = Math.PI / 2;
      ring.userData.thing = { kind: "pto", name: pto.name };
      holder.add(ring);
      out.push({ ...pto, kind: "pto", mesh: ring });
    }
  }
  return out;
}

/** Springs and power take-offs between two points. */
export class Struts {
  constructor(data, scene, size) {
    const rows = [
      ...data.springs.map((spring) => ({ ...spring, kind: "spring" })),
      ...data.ptos.filter((pto) => pto.a).map((pto) => ({ ...pto, kind: "pto" })),
    ];
    this.rows = rows.map((row) => {
      const group = new Group();
      const thick = row.kind === "pto" ? 0.55 : 0.22;
      const rod = new Mesh(new CylinderGeometry(thick * size, thick * size, 1, 18), steel(row.kind === "pto" ? "#d99a17" : "#6b7782"));
      rod.userData.thing = { kind: row.kind, name: row.name };
      group.add(rod);
      if (row.kind === "pto") {
        const sleeve = new Mesh(new CylinderGeometry(0.95 * size, 0.95 * size, 0.5, 18), steel());
        sleeve.position.y = -0.25;
        sleeve.userData.thing = rod.userData.thing;
        group.add(sleeve);
      }
      scene.add(group);
      return { ...row, group, mesh: rod };
    });
    this.from = new Vector3();
    this.to = new Vector3();
  }

  update(made) {
    for (const row of this.rows) {
      placeOf(row.a, made, this.from);
      placeOf(row.b, made, this.to);
      const length = this.from.distanceTo(this.to) || 1e-9;
      row.group.position.copy(this.from).add(this.to).multiplyScalar(0.5);
      row.group.quaternion.setFromUnitVectors(UP, this.to.sub(this.from).divideScalar(length));
      row.group.scale.set(1, length, 1);
    }
  }
}

/** A point of a body, or of the world, in the world. */
export function placeOf(point, made, out) {
  out.set(...point.point);
  if (point.body >= 0) out.applyQuaternion(made[point.body].group.quaternion).add(made[point.body].group.position);
  return out;
}
