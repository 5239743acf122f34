// The newest exploration, and the features of the current set.

import { byId, el, mark, meter, say } from './dom.js';
import { ago, count, digits, duration, full, plural, scoredOf } from './format.js';
import { Chart, axis, colour, line } from './charts.js';

let nodes = null;

const looks = { none: '', running: 'live', published: 'good', cancelled: 'warn', abandoned: 'bad', replaced: 'warn' };

export function drawExploration({ exploration: e, process }) {
  if (!e) return;
  nodes ??= build();
  const badge = byId('exploration-status');
  say(badge, e.status === 'none' ? 'none yet' : e.status);
  mark(badge, `badge ${looks[e.status] ?? ''}`);
  nodes.empty.hidden = e.status === 'running';
  say(nodes.empty, idle(e, process));
  drawMissing(e, process);
  drawClasses(e);
  const described = Boolean(e.criterion);
  nodes.what.hidden = nodes.ranges.hidden = !described;
  say(nodes.id, e.id ?? '');
  nodes.reason.hidden = !e.reason;
  say(nodes.reason, e.reason ? `${why[e.status] ?? 'Reason'}: ${e.reason}` : '');
  nodes.reason.classList.toggle('bad', e.status === 'abandoned');
  if (described) {
    say(nodes.what, `${e.criterion} criterion, ${e.map} map · ${e.criterion === 'adaptive' ? `learns at most ${full(e.features)} features from pools of ${full(e.candidates)} candidates` : `keeps ${e.criterion === 'residual' ? 'at most ' : ''}${full(e.features)} of ${full(e.candidates)} candidates`}` +
      ` in ${plural(e.dim, 'dimension')} · bandwidth ${digits(e.sigma)}`);
    say(nodes.ranges, `${parts[e.from] ?? e.from}: ${plural(e.labelled_rows, 'labelled row')} in ${plural(e.partitions, 'partition')}` +
      ` · sample rate ${digits(e.sample_rate)}, about ${plural(e.sample_rows, 'row')}`);
  }
  drawWithout(e.without ?? []);
  drawProgress(e, process);
}

/** drawWithout names the partitions that the exploration was planned without. */
function drawWithout(without) {
  nodes.without.hidden = without.length === 0;
  const more = without.length > named ? `; and ${plural(without.length - named, 'other')}` : '';
  say(nodes.without, `Planned without ${plural(without.length, 'partition')}: ` + without.slice(0, named).map((w) => `${w.partition} (${w.reason})`).join('; ') + more);
}

const why = { cancelled: 'Reason for cancelling', abandoned: 'Reason for the missing feature set' };

// Parts of the log, by exploration.from.
const parts = { recent: 'the newest rows', earliest: 'all rows', next: 'the rows since the last exploration' };

/** idle describes the state while no exploration runs. */
function idle(e, process) {
  if (e.requests.length > 0) return `${plural(e.requests.length, 'request')} ${e.requests.length === 1 ? 'waits' : 'wait'} for the planner: ${e.requests.map((r) => r.reason || r.action).join('; ')}.`;
  if (e.status === 'none') return 'No exploration yet. The first one starts automatically once there are enough labelled rows.';
  if (e.status === 'replaced') return 'The last exploration was planned by an earlier version and never ended. It will be planned again.';
  return `No exploration is running. The last one, below, was planned ${ago(e.planned_at, process.time)} and is ${e.status}.`;
}

/** drawMissing shows why the planner has no plan. */
function drawMissing(e, process) {
  nodes.missing.hidden = !e.missing_rows;
  if (e.missing_rows) {
    const have = e.present_rows ?? 0;
    meter(nodes.missingBar, have / (have + e.missing_rows));
    say(nodes.missingText, `${full(have)} of ${plural(have + e.missing_rows, 'labelled row')}: ${full(e.missing_rows)} missing for a plan${e.unusable ? `; ${e.unusable}` : ''}`);
  }
  nodes.fault.hidden = !e.fault;
  if (!e.fault) return;
  const wait = (new Date(e.retry_at) - new Date(process.time)) / 1000;
  say(nodes.fault, `The last plan failed ${ago(e.fault_at, process.time)}${wait > 1 ? `; next attempt in ${duration(wait)}` : ''}: ${e.fault}`);
}

// Number of classes and partitions that are named.
const named = 8;

/** drawClasses names the classes unknown to the feature set, in rows that this process featurized since it started. */
function drawClasses(e) {
  const unseen = e.unseen_classes ?? [];
  nodes.classes.hidden = unseen.length === 0;
  const more = unseen.length > named ? `, and ${plural(unseen.length - named, 'other')}` : '';
  say(nodes.classes, unseen.length === 0 ? '' : 'Classes unknown to the feature set, whose rows teach nothing and count as errors: ' +
    unseen.slice(0, named).map((c) => `${c.class} (${plural(c.rows, 'row')}${e.declined_classes?.includes(c.class) ? ', absent from the rows that the exploration read' : ''})`).join(', ') + more + '.');
}

function drawProgress(e, process) {
  const running = e.status === 'running';
  nodes.progress.hidden = !running;
  if (!running) return;
  const scored = e.closed === e.partitions;
  meter(nodes.bar, scored ? 1 : e.sample_rows > 0 ? e.scored_rows / e.sample_rows : 0);
  nodes.bar.classList.toggle('done', scored);
  say(nodes.rows, `${scoredOf(e.scored_rows, e.sample_rows, scored, full)} scored, ${full(e.closed)} of ${plural(e.partitions, 'partition')} done`);
  say(nodes.since, `planned ${ago(e.planned_at, process.time)}`);
  nodes.round.hidden = !e.round;
  const last = e.learning?.winner === undefined ? e.learning?.points.at(-1) : null;
  say(nodes.round, !e.round ? '' : last?.kind === 'step' ? `Refining the features: step ${last.step}.`
    : `Choosing features from the sample${e.rounds > 1 ? `: round ${e.round} of at most ${e.rounds}` : ''}.`);
}

function build() {
  const n = {
    empty: el('p', { class: 'idle', id: 'exploration-idle' }), fault: el('p', { class: 'note warn', id: 'exploration-fault' }),
    missingBar: el('div', { class: 'bar' }), missingText: el('span', { id: 'exploration-missing' }),
    classes: el('p', { class: 'note', id: 'exploration-classes' }),
    id: el('p', { class: 'mono id', id: 'exploration-id' }), reason: el('p', { class: 'note', id: 'exploration-reason' }),
    what: el('p', { class: 'muted' }), ranges: el('p', { class: 'muted', id: 'exploration-ranges' }), without: el('p', { class: 'note', id: 'exploration-without' }),
    bar: el('div', { class: 'bar' }), rows: el('span', { id: 'exploration-rows' }), since: el('span', { class: 'muted' }),
    round: el('p', { class: 'note', id: 'exploration-round' }),
  };
  n.missing = el('div', { class: 'progress' }, n.missingBar, el('p', { class: 'ends' }, n.missingText, el('span', { class: 'mono muted' }, 'exploration.min_rows')));
  n.progress = el('div', { class: 'progress' }, n.bar, el('p', { class: 'ends' }, n.rows, n.since), n.round);
  byId('exploration').append(n.empty, n.missing, n.fault, n.id, n.reason, n.what, n.ranges, n.without, n.classes, n.progress);
  return n;
}

// The values of the features of the current set.

let chart = null;
let shown = null; // the spectrum that was drawn
let drawnFrom = null;

const units = {
  norm: { title: 'Norm of the score of the current features, √energy', axis: '‖Ŝ‖' },
  contribution: { title: 'Contribution of the features to the model they were learned with', axis: 'mean square' },
  criterion: { title: 'Criterion of the current features, in the order of choice', axis: 'criterion' },
};

export function drawSpectrum({ exploration: e }) {
  if (!e) return;
  const s = e.spectrum;
  const key = JSON.stringify(s);
  if (chart && key === shown) return;
  shown = key;
  drawnFrom = s;
  chart ??= new Chart(byId('spectrum'), options, '');
  say(byId('spectrum-title'), s ? units[s.unit].title : 'Current features');
  chart.rebuild();
  chart.set(s ? [s.rank, s.value, s.low ?? s.rank.map(() => null), s.high ?? s.rank.map(() => null)] : null, 'The features of the first set appear here.');
  say(byId('spectrum-note'), s ? note(s) : '');
}

function note(s) {
  const rows = plural(s.rows, 'row');
  const kinds = s.kinds ? `: ${kindsOf(s.kinds)}` : '';
  if (s.unit === 'contribution') return `${full(s.features)} features learned from ${rows}${kinds}. They are judged by the loss on held-out rows, below.`;
  const confidence = s.unit === 'norm' ? ' The band holds the norms of all expectations at once with 95 % confidence.' : '';
  return `${rows} scored, ${full(s.above)} of ${full(s.features)} features above the noise level${kinds}.${confidence}`;
}

// Plural names of the kinds of features.
const names = { cosine: 'cosines', ramp: 'ramps', hinge: 'hinges', box: 'boxes' };

/** kindsOf returns the number of features of each kind as text. */
function kindsOf(kinds) {
  return Object.entries(names).filter(([kind]) => kinds[kind] > 0).map(([kind, many]) => `${full(kinds[kind])} ${kinds[kind] === 1 ? kind : many}`).join(', ');
}

function options() {
  const s = drawnFrom;
  const band = s?.unit === 'norm';
  const name = units[s?.unit ?? 'criterion'].axis;
  const value = (_, v) => (v === null || v === undefined ? '' : digits(v));
  return {
    cursor: { drag: { x: false, y: false } },
    scales: {
      x: { time: false, distr: 3, range: () => [1, Math.max(10, s?.features ?? 10)] },
      y: { range: (_, from, to) => [0, Math.max(to ?? 0, 1e-9) * 1.1] },
    },
    axes: [
      axis({ label: 'rank of the feature', size: 28, values: (_, splits) => splits.map((v) => (Number.isInteger(Math.log10(v)) ? count(v) : '')) }),
      axis({ label: name, size: 52, values: (_, splits) => splits.map((v) => digits(v, 2)) }),
    ],
    series: [
      { label: '', value: (_, v) => (v === null || v === undefined ? '' : `rank ${full(v)}`) },
      line(name, 'series-1', { value }),
      line('low', 'series-1', { width: 0, value, show: band }),
      line('high', 'series-1', { width: 0, value, show: band }),
    ],
    bands: band ? [{ series: [3, 2], fill: colour('series-1', 0.16) }] : [],
  };
}
