// The newest exploration and its spectrum of scores.

import { byId, el, mark, meter, say } from './dom.js';
import { ago, count, digits, duration, full, plural } from './format.js';
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
    say(nodes.what, `${e.criterion} criterion, ${e.map} map · ${e.criterion === 'adaptive' ? `learns ${full(e.features)} features from pools of ${full(e.candidates)} candidates` : `keeps ${full(e.features)} of ${full(e.candidates)} candidates`}` +
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

const why = { cancelled: 'Why it was cancelled', abandoned: 'Why it gave no feature set' };

// Parts of the log, by exploration.from.
const parts = { recent: 'the newest rows', earliest: 'all rows', next: 'the rows since the last exploration' };

/** idle says what there is while no exploration runs. */
function idle(e, process) {
  if (e.requests.length > 0) return `${plural(e.requests.length, 'request')} ${e.requests.length === 1 ? 'waits' : 'wait'} for the planner: ${e.requests.map((r) => r.reason || r.action).join('; ')}.`;
  if (e.status === 'none') return 'There has been no exploration yet. The first one starts by itself once there are enough labelled rows.';
  if (e.status === 'replaced') return 'The last exploration was planned by an earlier version and never ended. It will be planned again.';
  return `No exploration is running. The last one, below, was planned ${ago(e.planned_at, process.time)} and is ${e.status}.`;
}

/** drawMissing says what keeps the planner from a plan. */
function drawMissing(e, process) {
  nodes.missing.hidden = !e.missing_rows;
  if (e.missing_rows) {
    const have = e.present_rows ?? 0;
    meter(nodes.missingBar, have / (have + e.missing_rows));
    say(nodes.missingText, `${full(have)} of ${plural(have + e.missing_rows, 'labelled row')}: ${full(e.missing_rows)} missing for a plan`);
  }
  nodes.fault.hidden = !e.fault;
  if (!e.fault) return;
  const wait = (new Date(e.retry_at) - new Date(process.time)) / 1000;
  say(nodes.fault, `The last plan failed ${ago(e.fault_at, process.time)}${wait > 1 ? `, the next try is in ${duration(wait)}` : ''}: ${e.fault}`);
}

// So many classes are named.
const named = 8;

/** drawClasses names the classes that the feature set does not know, of the rows that this process featurized since it started. */
function drawClasses(e) {
  const unseen = e.unseen_classes ?? [];
  nodes.classes.hidden = unseen.length === 0;
  const more = unseen.length > named ? `, and ${plural(unseen.length - named, 'other')}` : '';
  say(nodes.classes, unseen.length === 0 ? '' : 'Classes that the feature set does not know; their rows are neither scored nor trained on: ' +
    unseen.slice(0, named).map((c) => `${c.class} (${plural(c.rows, 'row')}${e.declined_classes?.includes(c.class) ? ', not among those that the exploration read' : ''})`).join(', ') + more + '.');
}

function drawProgress(e, process) {
  const running = e.status === 'running';
  nodes.progress.hidden = !running;
  if (!running) return;
  const scored = e.closed === e.partitions;
  meter(nodes.bar, scored ? 1 : e.sample_rows > 0 ? e.scored_rows / e.sample_rows : 0);
  nodes.bar.classList.toggle('done', scored);
  say(nodes.rows, `${full(e.scored_rows)} of about ${full(e.sample_rows)} rows scored, ${full(e.closed)} of ${plural(e.partitions, 'partition')} done`);
  say(nodes.since, `planned ${ago(e.planned_at, process.time)}`);
  nodes.round.hidden = !e.round;
  const last = e.learning?.winner === undefined ? e.learning?.points.at(-1) : null;
  say(nodes.round, !e.round ? '' : last?.kind === 'step' ? `Refining the frequencies: step ${last.step}.`
    : `Choosing features from the sample: round ${e.round} of at most ${e.rounds}.`);
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
  byId('exploration').append(n.empty, n.missing, n.fault, n.classes, n.id, n.reason, n.what, n.ranges, n.without, n.progress);
  return n;
}

// The spectrum.

let chart = null;
let shown = null; // what the chart was drawn from

const units = {
  correlation: { title: 'Correlation with the label, by rank', axis: 'correlation', value: 'correlation' },
  norm: { title: 'Norm of the score, √energy, by rank', axis: '‖Ŝ‖', value: '‖Ŝ‖' },
  contribution: { title: 'Contribution of the features to the model they were learned with', axis: 'mean square', value: 'mean square' },
  criterion: { title: 'Criterion of the features that were kept, in the order of choice', axis: 'criterion', value: 'criterion' },
};

export function drawSpectrum({ exploration: e }) {
  if (!e) return;
  const s = e.spectrum;
  const key = JSON.stringify(s);
  if (chart && key === shown) return;
  shown = key;
  drawnFrom = s;
  chart ??= new Chart(byId('spectrum'), options, '');
  const unit = units[s?.unit ?? 'correlation'];
  say(byId('spectrum-title'), s ? unit.title : 'Score spectrum');
  chart.rebuild();
  chart.set(s ? [s.rank, s.value, s.low ?? s.rank.map(() => null), s.high ?? s.rank.map(() => null)] : null,
    e.status === 'running' ? 'Waiting for the first checkpoint.' : 'Scores appear here when an exploration runs.');
  say(byId('spectrum-note'), s ? note(s, e) : '');
}

let drawnFrom = null;

function note(s, e) {
  const rows = plural(s.rows, 'row');
  const thinned = s.every > 1 ? ` One in ${s.every} candidates is looked at.` : '';
  if (s.unit === 'contribution') return `From the published set: ${full(s.candidates)} features learned from ${rows}. What they are judged by is the loss on held-out rows, below.`;
  if (s.unit === 'criterion') return `From the published set: ${rows} scored, ${full(s.above)} of ${full(s.candidates)} features above the level of noise.`;
  const kept = s.unit === 'norm' || e.criterion === 'correlation' ? `The best ${full(s.cutoff_rank)} are kept` : `The best ${full(s.cutoff_rank)} are the pool of the first round`;
  const confidence = s.unit === 'norm'
    ? 'The band holds the norms of all expectations at once with 95 % confidence.'
    : `Candidates that have nothing to do with the label stay in the shaded band, below ${digits(s.noise)}, with 95 % confidence; about ${full(s.above)} lie above it.`;
  return `${kept}: from ${digits(s.cutoff)} on, of ${rows} in ${plural(s.partitions, 'partition')}. ${confidence}${thinned}`;
}

function options() {
  const s = drawnFrom;
  const unit = units[s?.unit ?? 'correlation'];
  const band = s?.unit === 'norm';
  const value = (_, v) => (v === null || v === undefined ? '' : digits(v));
  return {
    cursor: { drag: { x: false, y: false } },
    scales: {
      x: { time: false, distr: 3, range: () => [1, Math.max(10, s?.candidates ?? 10)] },
      y: { range: (_, from, to) => [0, Math.max(s?.noise ?? 0, to ?? 0, 1e-9) * 1.1] },
    },
    axes: [
      axis({ label: 'rank of the candidate', size: 28, values: (_, splits) => splits.map((v) => (Number.isInteger(Math.log10(v)) ? count(v) : '')) }),
      axis({ label: unit.axis, size: 52, values: (_, splits) => splits.map((v) => digits(v, 2)) }),
    ],
    series: [
      { label: '', value: (_, v) => (v === null || v === undefined ? '' : `rank ${full(v)}`) },
      line(unit.value, 'series-1', { value }),
      line('low', 'series-1', { width: 0, value, show: band }),
      line('high', 'series-1', { width: 0, value, show: band }),
    ],
    bands: band ? [{ series: [3, 2], fill: colour('series-1', 0.16) }] : [],
    hooks: { drawAxes: [(u) => s && drawLevels(u, s, band)] },
  };
}

/** drawLevels draws the band of noise and the cut-off. */
function drawLevels(u, s, band) {
  const { ctx, bbox } = u;
  const scale = devicePixelRatio;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  if (!band && s.noise > 0) {
    const top = u.valToPos(s.noise, 'y', true);
    ctx.fillStyle = colour('series-2', 0.14);
    ctx.fillRect(bbox.left, top, bbox.width, bbox.top + bbox.height - top);
    dashed(ctx, colour('series-2'), scale, bbox.left, top, bbox.left + bbox.width, top);
    label(ctx, scale, `noise ${digits(s.noise)}`, colour('series-2'), bbox.left + 6 * scale, top - 5 * scale, 'left');
  }
  if (s.cutoff_rank < s.candidates) {
    const x = u.valToPos(s.cutoff_rank, 'x', true);
    dashed(ctx, colour('ink'), scale, x, bbox.top, x, bbox.top + bbox.height);
    ctx.font = fontOf(scale);
    const fits = (text) => x + 8 * scale + ctx.measureText(text).width < bbox.left + bbox.width;
    const long = `cut-off: rank ${full(s.cutoff_rank)}, ${digits(s.cutoff)}`;
    const text = fits(long) || x - bbox.left > ctx.measureText(long).width + 8 * scale ? long : `cut-off ${digits(s.cutoff)}`;
    const right = fits(text);
    label(ctx, scale, text, colour('ink'), x + (right ? 6 : -6) * scale, bbox.top + 14 * scale, right ? 'left' : 'right');
  }
  ctx.restore();
}

function dashed(ctx, stroke, scale, x0, y0, x1, y1) {
  ctx.strokeStyle = stroke;
  ctx.lineWidth = scale;
  ctx.setLineDash([4 * scale, 4 * scale]);
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
  ctx.setLineDash([]);
}

const fontOf = (scale) => `${12 * scale}px ${getComputedStyle(document.body).fontFamily}`;

function label(ctx, scale, text, fill, x, y, align) {
  ctx.font = fontOf(scale);
  ctx.textAlign = align;
  ctx.fillStyle = fill;
  ctx.fillText(text, x, y);
}
