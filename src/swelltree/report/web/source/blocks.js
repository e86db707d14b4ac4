// Packed numbers of the page: 16 bits each, differences in time, deflated, base64.
// The writer is swelltree/report/pack.py.
import { unzlibSync } from "fflate";

const GAP = -32768;
const cache = new Map();

function bytesOf(text) {
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

/** Inflated bytes of a base64 text. */
export function inflate(text) {
  return unzlibSync(bytesOf(text));
}

/** A block of the page as columns; `value(column, row)` gives a number or NaN. */
export function block(about, number = about.block) {
  if (cache.has(number)) return cache.get(number);
  const { rows, columns, order, offset, scale } = about;
  const raw = inflate(document.getElementById(`block-${number}`).textContent);
  const count = rows * columns;
  const data = new Int16Array(count);
  for (let i = 0; i < count; i++) data[i] = raw[i] | (raw[count + i] << 8);
  for (let pass = 0; pass < order; pass++) {
    for (let c = 0; c < columns; c++) {
      const first = c * rows;
      for (let i = first + 1; i < first + rows; i++) data[i] += data[i - 1]; // wraps around
    }
  }
  const made = {
    rows,
    columns,
    value(column, row) {
      const n = data[column * rows + row];
      return n === GAP ? NaN : offset[column] + scale[column] * n;
    },
    column(number) {
      const out = new Float64Array(rows);
      for (let i = 0; i < rows; i++) out[i] = made.value(number, i);
      return out;
    },
  };
  cache.set(number, made);
  return made;
}

/** Times of samples, and where between two of them a time lies. */
export class TimeBase {
  constructor(about) {
    this.start = about.start;
    this.step = about.step;
    this.count = about.count;
    this.values = about.values ?? null;
    this.end = this.at(this.count - 1);
  }

  at(i) {
    return this.values ? this.values[i] : this.start + this.step * i;
  }

  all() {
    return Float64Array.from({ length: this.count }, (_, i) => this.at(i));
  }

  /** [row, part]: the time is `part` of the way from the row to the next. */
  find(t) {
    const last = this.count - 1;
    if (last < 1 || !(t > this.at(0))) return [0, 0];
    if (t >= this.end) return [last - 1, 1];
    let i;
    if (this.values) {
      let [low, high] = [0, last];
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (this.values[middle] <= t) low = middle;
        else high = middle;
      }
      i = low;
    } else {
      i = Math.min(last - 1, Math.floor((t - this.start) / this.step));
    }
    return [i, (t - this.at(i)) / (this.at(i + 1) - this.at(i))];
  }
}
