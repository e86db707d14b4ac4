// What can be played: a run, a mode shape, the response to a regular wave.
// A clip says where bodies are at a time and what the sea does.
import { Quaternion, Vector3, Matrix4 } from "three";
import { block, TimeBase } from "./blocks.js";

const a = new Quaternion();
const b = new Quaternion();
const up = new Vector3(0, 0, 1);

/** The motion that was computed. */
export class RunClip {
  constructor(run, index) {
    this.kind = "run";
    this.index = index;
    this.run = run;
    this.label = run.label;
    this.scene = run.scene;
    this.time = new TimeBase(run.scene.time);
    this.start = this.time.start;
    this.end = this.time.end;
    this.motion = block(run.scene.motion);
    this.waves = run.scene.waves;
    this.loop = !!run.periodic;
  }

  /** Put position and quaternion of body `i` at time `t` into the arguments. */
  pose(i, t, position, quaternion) {
    const [row, part] = this.time.find(t);
    const next = Math.min(row + 1, this.motion.rows - 1);
    const get = (k, r) => this.motion.value(7 * i + k, r);
    position.set(
      get(0, row) + part * (get(0, next) - get(0, row)),
      get(1, row) + part * (get(1, next) - get(1, row)),
      get(2, row) + part * (get(2, next) - get(2, row)),
    );
    a.set(get(4, row), get(5, row), get(6, row), get(3, row)).normalize();
    b.set(get(4, next), get(5, next), get(6, next), get(3, next)).normalize();
    quaternion.copy(a).slerp(b, part);
  }

  step() {
    return this.time.step;
  }
}

/** A harmonic motion about the described pose: a mode, or the response to a regular wave. */
export class HarmonicClip {
  constructor(scene, about) {
    this.kind = about.kind;
    this.label = about.label;
    this.scene = scene;
    this.start = 0;
    this.end = about.period;
    this.loop = true;
    this.sign = about.sign; // of i omega t
    this.shape = about.shape; // per body: [re, im] of six numbers
    this.waves = about.waves ?? null;
    this.decay = about.decay ?? 0;
    this.rest = scene.bodies.map((body) => {
      const R = body.turn ?? [1, 0, 0, 0, 1, 0, 0, 0, 1];
      const matrix = new Matrix4().set(R[0], R[1], R[2], 0, R[3], R[4], R[5], 0, R[6], R[7], R[8], 0, 0, 0, 0, 1);
      return {
        position: new Vector3(...(body.start ?? [0, 0, 0])),
        quaternion: new Quaternion().setFromRotationMatrix(matrix),
        heading: Math.atan2(R[3], R[0]), // in whose axes the shape is given
      };
    });
  }

  pose(i, t, position, quaternion) {
    const angle = (2 * Math.PI * t) / this.end;
    const [c, s] = [Math.cos(angle), this.sign * Math.sin(angle)];
    const { re, im } = this.shape[i];
    const now = re.map((x, k) => x * c - im[k] * s);
    const { heading } = this.rest[i];
    position.set(now[0], now[1], now[2]).applyAxisAngle(up, heading).add(this.rest[i].position);
    const axis = new Vector3(now[3], now[4], now[5]).applyAxisAngle(up, heading);
    const turn = axis.length();
    a.identity();
    if (turn > 1e-12) a.setFromAxisAngle(axis.divideScalar(turn), turn);
    quaternion.copy(a).multiply(this.rest[i].quaternion);
  }

  step() {
    return this.end / 40;
  }
}

/** The mode shapes of a file as clips, scaled to be seen. */
export function modeClips(modes, scene, span) {
  const shape = block(modes.shape);
  return modes.modes
    .filter((mode) => mode.period !== null)
    .map((mode) => {
      const bodies = scene.bodies.map((_, i) => {
        const at = (k, part) => shape.value((i * 6 + k) * 2 + part, mode.row);
        return {
          re: Array.from({ length: 6 }, (_, k) => at(k, 0)),
          im: Array.from({ length: 6 }, (_, k) => at(k, 1)),
        };
      });
      const move = Math.max(...bodies.map((x) => Math.max(...x.re.slice(0, 3).map(Math.abs))), 1e-9);
      const turn = Math.max(...bodies.map((x) => Math.max(...x.re.slice(3).map(Math.abs))), 1e-9);
      const size = Math.min((0.06 * span) / move, 0.2 / turn);
      for (const x of bodies) {
        x.re = x.re.map((v) => v * size);
        x.im = x.im.map((v) => v * size);
      }
      return new HarmonicClip(scene, {
        kind: "mode",
        label: `Mode ${mode.number}: ${mode.period.toPrecision(3)} s`,
        period: mode.period,
        sign: 1,
        shape: bodies,
      });
    });
}

/** The response to a regular wave of one frequency and heading. */
export function waveClip(rao, scene, heading, row, span) {
  const table = block(rao.motion);
  const omega = rao.omega[row];
  const n = scene.bodies.length;
  const beta = rao.headings[heading];
  const k = rao.wavenumber[row];
  // a wave of moderate steepness, not higher than the scene can show
  const amplitude = Math.min(0.06 / k, 0.08 * span);
  const shape = scene.bodies.map((_, i) => {
    const at = (k, part) => amplitude * table.value((((heading * n + i) * 6 + k) * 2) + part, row);
    return {
      re: Array.from({ length: 6 }, (_, k) => at(k, 0)),
      im: Array.from({ length: 6 }, (_, k) => at(k, 1)),
    };
  });
  return new HarmonicClip(scene, {
    kind: "wave",
    label: `Wave of ${((2 * Math.PI) / omega).toPrecision(3)} s, ${(2 * amplitude).toPrecision(2)} m high`,
    period: (2 * Math.PI) / omega,
    sign: -1,
    shape,
    waves: {
      amplitude: [amplitude],
      omega: [omega],
      kx: [k * Math.cos(beta)],
      ky: [k * Math.sin(beta)],
      phase: [0],
      ramp: 0,
    },
  });
}
