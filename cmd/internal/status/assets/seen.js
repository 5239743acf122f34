// The dead letters that this browser has shown to somebody. Dead letters older than a day do not count as new.

const day = 24 * 3600 * 1000;
const keyOf = (pipeline) => `eerf-letters-seen/${pipeline}`;
const session = new Map(); // for browsers that must not store anything

/** load returns the time of the newest viewed dead letter. */
function load(pipeline) {
  try {
    return Number(localStorage.getItem(keyOf(pipeline)) ?? session.get(pipeline) ?? 0);
  } catch {
    return session.get(pipeline) ?? 0;
  }
}

/** news counts the newest dead letters that nobody has viewed, and tells whether there may be more. */
export function news(letters, process) {
  const since = Math.max(load(process.pipeline), Date.parse(process.time) - day);
  const count = letters.newest.filter((l) => Date.parse(l.time) > since).length;
  return { count, more: count > 0 && count === letters.newest.length && letters.read + letters.unread > count };
}

/** look records that somebody has viewed all current ones. */
export function look(letters, process) {
  const time = Math.max(0, ...letters.newest.map((l) => Date.parse(l.time)));
  session.set(process.pipeline, time);
  try {
    localStorage.setItem(keyOf(process.pipeline), String(time));
  } catch { /* then it lasts while the page is open */ }
}
