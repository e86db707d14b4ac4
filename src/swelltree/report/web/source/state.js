// What the page shows now; parts of the page listen for changes.
const listeners = {};

export const state = {
  clip: null, // what is played: a run, a mode, a wave
  time: 0,
  playing: false,
  speed: 1,
  selected: null, // { kind, name }
  follow: "", // name of a body
};

export function on(what, action) {
  (listeners[what] ??= []).push(action);
}

export function tell(what) {
  for (const action of listeners[what] ?? []) action(state);
}

/** Change the state; listeners of the changed names are called. */
export function set(changes) {
  const changed = Object.keys(changes).filter((key) => state[key] !== changes[key]);
  Object.assign(state, changes);
  for (const key of changed) tell(key);
}

export function sameThing(a, b) {
  return !!a && !!b && a.kind === b.kind && a.name === b.name;
}
