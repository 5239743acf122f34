// Which dead letters somebody has looked at, as this browser remembers it. Letters that are a day old are no news.

const day = 24 * 3600 * 1000;
const keyOf = (pipeline) => `eerf-letters-seen/${pipeline}`;
const session = new Map(); // for browsers that must not store anything

/** load is the time of the newest letter that was looked at. */
function load(pipeline) {
  try {
    return Number(localStorage.getItem(keyOf(pipeline)) ?? session.get(pipeline) ?? 0);
  } catch {
    return session.get(pipeline) ?? 0;
  }
}

/** news is how many of the newest dead letters nobody has looked at, and whether there may be more of them. */
export function news(letters, process) {
  const since = Math.max(load(process.pipeline), Date.parse(process.time) - day);
  const count = letters.newest.filter((l) => Date.parse(l.time) > since).length;
  return { count, more: count > 0 && count === letters.newest.length && letters.read + letters.unread > count };
}

/** look says that somebody has looked at all there are. */
export function look(letters, process) {
  const time = Math.max(0, ...letters.newest.map((l) => Date.parse(l.time)));
  session.set(process.pipeline, time);
  try {
    localStorage.setItem(keyOf(process.pipeline), String(time));
  } catch { /* then it is remembered as long as the page is open */ }
}
