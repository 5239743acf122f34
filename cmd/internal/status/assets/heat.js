// Many partitions at a glance: strips with one cell for each. Fill and colour of a cell show the same.

import { byId, el, keyed, mark, meter, say } from './dom.js';
import { duration, full, plural, scoredOf } from './format.js';

// Levels of waiting messages in a partition, by the seconds that it is behind; the first that applies counts.
const levels = [
  { key: 'unknown', name: 'unknown', fill: 0, of: (p) => !p.featurize },
  { key: 'none', name: 'nothing waits', fill: 0, of: (p) => p.featurize.lag === 0 },
  { key: 'some', name: 'something waits', fill: 0.35, of: (p) => behind(p) === null },
  { key: 'soon', name: 'less than a minute behind', fill: 0.35, of: (p) => behind(p) < 60 },
  { key: 'slow', name: 'one to five minutes', fill: 0.7, of: (p) => behind(p) < 300 },
  { key: 'late', name: 'five minutes or more', fill: 1, of: () => true },
];

/** behind returns how many seconds a partition is behind: as measured here, or from the rate of messages; null if unknown. */
export function behind(p) {
  const f = p.featurize;
  if (!f) return null;
  if (f.lag === 0) return 0;
  if (f.here) return f.lag_seconds ?? 0;
  return p.per_second > 0 ? f.lag / p.per_second : null;
}

let nodes = null;

/** drawHeat draws the partitions; choose receives the number of a clicked one. */
export function drawHeat(list, running, choose) {
  nodes ??= build();
  nodes.list = list;
  nodes.choose = choose;
  const counts = new Map();
  fill(nodes.waiting, list, (cell, p) => {
    const level = levels.find((l) => l.of(p));
    counts.set(level, (counts.get(level) ?? 0) + 1);
    mark(cell, `cell ${level.key}`);
    meter(cell, level.fill);
  });
  nodes.scoring.hidden = !running;
  if (running) {
    fill(nodes.scored, list, (cell, p) => {
      mark(cell, `cell ${p.subsample?.closed ? 'done' : p.subsample ? 'soon' : 'unknown'}`);
      meter(cell, p.subsample ? part(p.subsample) : 0);
    });
  }
  keyed(nodes.legend, levels.filter((l) => counts.has(l)), (l) => l.key, entry, (node, l) => say(node.lastChild, `${l.name}: ${full(counts.get(l))}`));
  if (nodes.at !== null) describe(nodes.at);
}

/** entry returns the legend entry of a level. */
function entry(level) {
  const cell = el('span', { class: `cell ${level.key}` });
  meter(cell, level.fill);
  return el('li', {}, cell, el('span'));
}

/** part returns the scored part of a range. */
const part = (s) => (s.closed || s.start_offset === s.end_offset ? 1 : (s.next - s.start_offset) / (s.end_offset - s.start_offset));

/** fill gives a strip a cell for each partition. */
function fill(strip, list, draw) {
  while (strip.childElementCount > list.length) strip.lastElementChild.remove();
  while (strip.childElementCount < list.length) {
    strip.append(el('button', { type: 'button', 'data-at': strip.childElementCount, tabindex: strip.childElementCount === 0 ? 0 : -1 }));
  }
  list.forEach((p, i) => {
    const cell = strip.children[i];
    draw(cell, p);
    const label = `partition ${p.partition}`;
    if (cell.getAttribute('aria-label') !== label) cell.setAttribute('aria-label', label);
  });
}

/** describe shows the figures of one partition. */
function describe(at) {
  const p = nodes.list[at];
  if (!p) return;
  const f = p.featurize;
  const s = p.subsample;
  const lag = behind(p);
  const waits = !f ? 'nothing committed yet' : f.lag === 0 ? 'nothing waits'
    : `${plural(f.lag, 'message')} ${f.lag === 1 ? 'waits' : 'wait'}${lag === null ? '' : `, ${f.here ? '' : 'about '}${duration(lag)} behind`}`;
  say(nodes.about, `Partition ${p.partition}: ${waits}${s?.at ? `; ${scoredOf(s.scored, s.expected, s.closed)} scored` : ''}.`);
}

function build() {
  const strip = (label) => el('div', { class: 'heat', role: 'group', 'aria-label': `${label}, a cell for each partition; arrow keys move` });
  const n = {
    waiting: strip('waiting for features'), scored: strip('scored for the exploration'),
    legend: el('ul', { class: 'levels' }), about: el('p', { class: 'note about', role: 'status' }, 'Point at a partition to see its figures; click to keep it in the table.'),
    list: [], choose: () => {}, at: null,
  };
  n.scoring = el('div', {}, el('h3', {}, 'Scored for the exploration'), n.scored);
  for (const node of [n.waiting, n.scored]) wire(node, n);
  byId('heat').append(el('div', {}, el('h3', {}, 'Waiting for features'), n.waiting, n.legend), n.scoring, n.about);
  return n;
}

/** wire makes a strip one stop of the tab key; arrow keys move within it. */
function wire(strip, n) {
  const point = (target) => {
    const cell = target.closest('[data-at]');
    if (!cell) return;
    n.at = Number(cell.dataset.at);
    describe(n.at);
  };
  strip.addEventListener('pointerover', (event) => point(event.target));
  strip.addEventListener('focusin', (event) => point(event.target));
  strip.addEventListener('click', (event) => {
    const cell = event.target.closest('[data-at]');
    if (cell) n.choose(n.list[Number(cell.dataset.at)].partition);
  });
  strip.addEventListener('keydown', (event) => {
    const cell = event.target.closest('[data-at]');
    const to = cell && step(strip, cell, event.key);
    if (!to) return;
    event.preventDefault();
    cell.tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  });
}

/** step returns the cell that a key leads to. */
function step(strip, cell, key) {
  const row = [...strip.children].filter((c) => c.offsetTop === cell.offsetTop).length;
  const moves = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -row, ArrowDown: row, Home: -Infinity, End: Infinity };
  if (!(key in moves)) return null;
  const last = strip.childElementCount - 1;
  return strip.children[Math.max(0, Math.min(last, Number(cell.dataset.at) + moves[key]))];
}
