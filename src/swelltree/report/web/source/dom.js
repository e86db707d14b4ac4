// Elements made with text, never with markup: names of a model are shown as they are.
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "text") element.textContent = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** A number of about four digits. */
export function number(value) {
  if (value === null || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size < 1e-3 || size >= 1e5) return value.toExponential(2).replace("e", "e");
  const digits = Math.max(0, 3 - Math.floor(Math.log10(size)));
  return value.toFixed(Math.min(digits, 4)).replace("-", "−");
}

export function clock(t) {
  const whole = Math.max(0, t);
  if (whole < 600) return `${whole.toFixed(1)} s`;
  const h = Math.floor(whole / 3600);
  const m = Math.floor((whole % 3600) / 60);
  const s = (whole % 60).toFixed(1).padStart(4, "0");
  return h ? `${h}:${String(m).padStart(2, "0")}:${s}` : `${m}:${s}`;
}

export const $ = (id) => document.getElementById(id);

/** A colour of the theme. */
export function themed(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
