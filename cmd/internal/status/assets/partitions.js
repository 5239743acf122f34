// The table of partitions: how far each stage has come in each, wherever it runs.

import { byId, cells, el, keyed, meter, row, say } from './dom.js';
import { ago, count, duration, full, rate } from './format.js';

const labels = ['partition', 'end of log', 'messages/s', 'waiting for features', 'behind', 'scored', 'newer than the model'];
const shownAtFirst = 12;

let table = null;
let all = false;

export function drawPartitions({ flow, exploration, process }) {
  table ??= build();
  const list = flow.partitions;
  table.empty.hidden = list.length > 0;
  table.root.hidden = list.length === 0;
  say(table.empty, process.looked_at ? 'The topic of events is not there.' : 'Not known yet: the topics have not been looked at.');
  say(byId('events-name'), flow.topics.find((t) => t.role === 'events').name);
  const ordered = all || list.length <= shownAtFirst ? list : worst(list).slice(0, shownAtFirst);
  keyed(table.body, ordered, (p) => p.partition, () => make(), (node, p) => update(node, p, exploration, process));
  table.more.hidden = list.length <= shownAtFirst;
  say(table.more, all ? `Show the ${shownAtFirst} with the most waiting` : `Show all ${list.length} partitions (these have the most waiting)`);
  table.more.onclick = () => {
    all = !all;
    drawPartitions({ flow, exploration, process });
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

const worst = (list) => [...list].sort((a, b) => (b.featurize?.lag ?? 0) - (a.featurize?.lag ?? 0) || a.partition - b.partition);

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
    f ? { text: full(f.lag), class: from(f.here), title: `next offset ${full(f.next)}` } : { text: '–', class: 'number', title: 'nothing committed yet' },
    behind(f, p.per_second),
    {},
    p.train ? { text: full(p.train.lag), class: from(false), title: `messages; the model in use was fitted on events below offset ${full(p.train.next)}` }
      : { text: '–', class: 'number', title: 'there is no model' },
  ]);
  scored(node, p.subsample, exploration, process);
}

/** behind is the lag in time: as measured here, or as the messages that wait would take to come. */
function behind(f, perSecond) {
  if (!f) return { text: '–', class: 'number' };
  if (f.here) return { text: duration(f.lag_seconds ?? 0), class: `number from here${f.lag_seconds > 300 ? ' bad' : ''}`, title: 'age of the oldest message that is not featurized' };
  if (f.lag === 0) return { text: duration(0), class: 'number from pipeline', title: '' };
  return perSecond > 0
    ? { text: `about ${duration(f.lag / perSecond)}`, class: 'number from pipeline', title: 'messages that wait, by the rate at which they come' }
    : { text: '–', class: 'number', title: 'another process knows' };
}

function scored(node, s, exploration, process) {
  const cell = node.cells[5];
  cell.className = s ? `from ${s.here ? 'here' : 'pipeline'}` : '';
  node.bar.hidden = !s;
  if (!s) {
    say(node.barText, '–');
    return;
  }
  const empty = s.start_offset === s.end_offset;
  meter(node.bar, s.closed ? 1 : (s.next - s.start_offset) / (s.end_offset - s.start_offset));
  node.bar.classList.toggle('done', Boolean(s.closed));
  const closed = s.closed ? ` · ${closings[s.closed] ?? s.closed}` : '';
  say(node.barText, empty ? 'nothing to read' : `${count(s.scored)} of ${count(s.expected)}${closed}`);
  const range = `offsets ${full(s.start_offset)} to ${full(s.end_offset)}; `;
  cell.title = empty ? '' : range + (s.at ? `checkpoint of ${ago(s.at, process.time)}: ${full(s.rows)} rows read, ${full(s.scored)} scored` : 'no checkpoint yet');
}

const closings = { quota: 'full', end: 'at its end', lost: 'rows are gone' };
