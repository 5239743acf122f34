// The table of partitions: the progress of each stage, in whichever process it runs.

import { byId, cells, el, keyed, meter, row, say } from './dom.js';
import { behind, drawHeat } from './heat.js';
import { ago, duration, full, rate, scoredOf } from './format.js';

const labels = ['partition', 'end of log', 'messages/s', 'waiting for features', 'behind', 'scored', 'newer than the model'];
const shownAtFirst = 12;

let table = null;
let all = false;
const kept = new Set(); // partitions picked in the strip

export function drawPartitions({ flow, exploration, process }) {
  table ??= build();
  const list = flow.partitions;
  table.empty.hidden = list.length > 0;
  table.root.hidden = list.length === 0;
  say(table.empty, process.looked_at ? 'The topic of events does not exist.' : 'Unknown yet.');
  say(byId('events-name'), flow.topics.find((t) => t.role === 'events').name);
  const many = list.length > shownAtFirst;
  const again = () => drawPartitions({ flow, exploration, process });
  byId('heat').hidden = !many;
  if (many) {
    drawHeat(list, exploration?.status === 'running', (partition) => {
      kept.add(partition);
      again();
    });
  }
  const ordered = all || !many ? list : first(list);
  keyed(table.body, ordered, (p) => p.partition, () => make(), (node, p) => update(node, p, exploration, process));
  table.more.hidden = !many;
  say(table.more, all ? `Show the ${shownAtFirst} with the most waiting` : `Show all ${full(list.length)} partitions (these have the most waiting)`);
  table.more.onclick = () => {
    all = !all;
    if (!all) kept.clear();
    again();
  };
}

function build() {
  const body = el('tbody');
  const t = {
    body, root: el('table', { class: 'cards' }, el('thead', {}, el('tr', {}, ...labels.map((l, i) => el('th', { scope: 'col', class: i > 0 && i !== 5 ? 'number' : '' }, l)))), body),
    empty: el('p', { class: 'empty' }), more: el('button', { type: 'button', class: 'more' }),
  };
  byId('partitions').append(t.root, t.empty, t.more);
  return t;
}

/** first returns the picked partitions, and those with the most waiting. */
function first(list) {
  const worst = [...list].sort((a, b) => (b.featurize?.lag ?? 0) - (a.featurize?.lag ?? 0) || a.partition - b.partition);
  return [...list.filter((p) => kept.has(p.partition)), ...worst.filter((p) => !kept.has(p.partition)).slice(0, shownAtFirst)];
}

function make() {
  const node = row(labels);
  node.bar = el('div', { class: 'bar' });
  node.barText = el('span', { class: 'bar-text' });
  node.cells[5].append(el('div', { class: 'with-bar' }, node.bar, node.barText));
  return node;
}

function update(node, p, exploration, process) {
  const f = p.featurize;
  const from = (here) => `number from ${here ? 'here' : 'pipeline'}`;
  cells(node, [
    { text: full(p.partition), class: 'mono' },
    { text: full(p.next), class: 'number' },
    { text: rate(p.per_second), class: 'number' },
    f ? { text: full(f.lag), class: from(f.here), title: `next offset ${full(f.next)}` } : { text: '–', class: 'number none', title: 'nothing committed yet' },
    late(p),
    {},
    p.train ? { text: full(p.train.lag), class: from(false), title: `messages; the current model was trained on events below offset ${full(p.train.next)}` }
      : { text: '–', class: 'number none', title: 'no model' },
  ]);
  scored(node, p.subsample, exploration, process);
}

/** late returns the lag in time: as measured here, or the time in which the waiting messages would arrive. */
function late(p) {
  const f = p.featurize;
  const s = behind(p);
  if (s === null) return { text: '–', class: 'number none', title: f ? 'known to another process' : '' };
  const bad = s > 300 ? ' bad' : '';
  if (f.here) return { text: duration(s), class: `number from here${bad}`, title: 'age of the oldest message without features' };
  return { text: f.lag === 0 ? duration(0) : `about ${duration(s)}`, class: `number from pipeline${bad}`, title: 'waiting messages divided by their rate' };
}

function scored(node, s, exploration, process) {
  const cell = node.cells[5];
  cell.className = s ? `from ${s.here ? 'here' : 'pipeline'}` : 'none';
  node.bar.hidden = !s;
  if (!s) {
    say(node.barText, '–');
    return;
  }
  const empty = s.start_offset === s.end_offset;
  meter(node.bar, s.closed ? 1 : (s.next - s.start_offset) / (s.end_offset - s.start_offset));
  node.bar.classList.toggle('done', Boolean(s.closed));
  const closed = s.closed ? closings[s.closed] ?? s.closed : '';
  const counted = s.closed && !s.at ? '' : scoredOf(s.scored, s.expected, s.closed); // checkpoints are deleted after their exploration
  say(node.barText, empty ? 'nothing to read' : [counted, closed].filter(Boolean).join(' · '));
  const range = `offsets ${full(s.start_offset)} to ${full(s.end_offset)}; `;
  cell.title = empty ? '' : range + (s.at ? `checkpoint of ${ago(s.at, process.time)}: ${full(s.rows)} rows read, ${full(s.scored)} scored` : s.closed ? 'its checkpoint was deleted after the exploration' : 'no checkpoint yet');
}

const closings = { quota: 'sample full', end: 'read to the end', lost: 'rows were lost' };
