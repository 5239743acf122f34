// Feature sets, newest first, with the error of the newest model on each; and the errors of models over time.

import { byId, cells, el, keyed, row, say } from './dom.js';
import { ago, error, figure, full, moment, percent, plural, share, shortId } from './format.js';
import { Chart, axis, colour, line, timeSeries } from './charts.js';

const labels = ['set', 'published', 'rows scored', 'kept', 'above noise', 'model error'];
const numbers = new Set([2, 3, 4, 5]);
let table = null;

export function drawHistory({ history, process }) {
  if (!history) return;
  table ??= build();
  table.root.hidden = history.sets.length === 0;
  table.root.classList.toggle('learned', history.sets.every((s) => s.learned)); // noise does not apply to learned features
  table.empty.hidden = history.sets.length > 0;
  keyed(table.body, history.sets, (s) => s.id, make, (node, s) => update(node, s, process));
  drawModels(history);
}

function build() {
  const body = el('tbody');
  const t = {
    body, root: el('table', { class: 'cards' }, el('thead', {}, el('tr', {}, ...labels.map((l, i) => el('th', { scope: 'col', class: numbers.has(i) ? 'number' : '' }, l)))), body),
    empty: el('p', { class: 'empty' }, 'No feature set yet. The first exploration publishes one.'),
  };
  byId('sets').append(t.root, t.empty);
  return t;
}

function make() {
  const node = row(labels);
  node.name = el('span', { class: 'mono' });
  node.current = el('span', { class: 'badge good' }, 'current');
  node.cells[0].append(el('span', { class: 'set-name' }, node.name, node.current));
  return node;
}

function update(node, s, process) {
  say(node.name, `#${s.sequence} ${shortId(s.id)}`);
  node.cells[0].title = `${s.id}\nof exploration ${s.exploration}, criterion ${s.criterion}`;
  node.current.hidden = !s.current;
  const m = s.model;
  cells(node, [
    {}, { text: ago(s.published, process.time), title: moment(s.published) },
    { text: full(s.rows) + (s.copies >= 0.01 ? ` (${percent(100 * s.copies)} copies)` : ''), class: 'number', title: s.copies ? `${percent(100 * s.copies)} of the rows equal an earlier row; no copy of a held-out row is learned from` : '' },
    { text: `${full(s.features)} of ${full(s.candidates)}`, class: 'number' },
    { text: s.learned ? '–' : full(s.above_noise), class: 'number', title: judged(s) },
    m && m.error !== null
      ? { text: error(m.error, m.percent), class: 'number', title: `${m.measure} on ${full(m.held_out_rows)} held-out rows` + (m.constant === null ? '' : `; best constant: ${error(m.constant, m.percent)}`) + `; one of ${plural(s.models, 'model')} on this set` }
      : { text: '–', class: 'number', title: m ? noError : 'no model known' },
  ]);
}

/** judged describes how features are told from chance. */
function judged(s) {
  const heldOut = s.best ? `held-out loss ${percent(100 * s.best.held_out_loss)} ± ${percent(100 * s.best.standard_error)} of the variance, judged on ${full(s.held_out_rows)} held-out rows` : '';
  if (s.learned) return `learned features: ${heldOut}`;
  return `features that stand out from chance; radius ${s.radius.toPrecision(3)}` + (heldOut ? `; ${heldOut}` : '');
}

let chart = null;
let inPercent = true; // the drawn errors
let times = []; // training times of the drawn models, in seconds

function drawModels(history) {
  const last = history.models.findLast((m) => m.error !== null);
  inPercent = last?.percent ?? true;
  const models = history.models.filter((m) => m.error !== null && m.measure === last.measure).sort((a, b) => new Date(a.trained_at) - new Date(b.trained_at));
  chart ??= new Chart(byId('models-chart'), options, '');
  times = models.map((m) => new Date(m.trained_at) / 1000);
  const key = [last?.measure, ...models.map((m) => m.id)].join();
  const data = models.length === 0 ? null
    : [times, models.map((m) => (m.promoted ? m.error : null)),
      models.map((m) => (m.promoted ? null : m.error)), models.map((m) => m.constant)];
  if (chart.key !== key) {
    chart.set(data, history.models_error ? `Models unknown: ${history.models_error}` : history.models.length > 0 ? 'No model has an error of its own yet.' : 'No model yet.');
    chart.rebuild(); // the look of the lines depends on their number
    chart.key = key;
  }
  const used = history.models.find((m) => m.current) ?? models.at(-1);
  say(byId('models-note'), used ? about(used) : '');
  keyed(byId('measures'), used ? measures(used) : [], (text) => text, () => el('li'), say);
}

export const noError = 'no error of its own yet, because the features were learned from its held-out rows';

/** about describes the curve, and how far its newest point can be trusted. */
function about(model) {
  if (model.error === null) return `The current model was trained on ${plural(model.rows, 'row')}; ${noError}.`;
  const measure = model.measure.charAt(0).toUpperCase() + model.measure.slice(1);
  return `${measure} on held-out rows. The current model was trained on ${plural(model.rows, 'row')} and tested on ${full(model.held_out_rows)}.` +
    (model.seen_share ? ` The exploration used about ${percent(100 * model.seen_share)} of these, so the error may be too low.` : '') +
    (model.half_life ? ` A row counts half after ${full(model.half_life)} newer ones.` : '') +
    (model.row_share ? ` ${percent(100 * model.row_share)} of the rows fit into memory, chosen by hash.` : '') +
    (model.useless ? ' Nothing here beats the constant.' : '');
}

/** measures lists the other measures of a model. */
function measures(model) {
  const m = model.measures;
  const beside = (name, v, constant) => (v === undefined ? [] : [`${name} ${figure(v)}` + (constant === undefined ? '' : ` (a constant ${figure(constant)})`)]);
  const units = (name, list, constant) => (list ? [`${name} ${list.map(figure).join(', ')}` + (constant ? ` (a constant ${constant.map(figure).join(', ')})` : '')] : []);
  const wrong = model.measure !== 'misclassification' && m.misclassification !== undefined
    ? [`misclassification ${percent(m.misclassification)}` + (m.constant_error === undefined ? '' : ` (a constant ${percent(m.constant_error)})`)] : [];
  const parts = [
    ...wrong, ...beside('log loss', m.log_loss, m.constant_log_loss), ...beside('AUC', m.auc), ...beside(`average precision of ${m.rare_class}`, m.average_precision),
    ...beside('R²', m.r2), ...units('RMSE', m.rmse, m.constant_rmse), ...units('MAE', m.mae),
  ];
  const recall = (m.recall ?? []).filter((c) => c.rows > 0).slice(0, 5).map((c) => `${c.class} ${share(c.right / c.rows)} of ${full(c.rows)}`);
  const bins = (m.calibration ?? []).filter((b) => b.rows > 0).map((b) => `${share(b.predicted)} → ${share(b.observed)}`);
  const decided = (m.decisions ?? []).filter((d) => d.decided > 0)
    .map((d) => `${d.threshold}: ${share(d.right / d.decided)} / ${share(d.right / m.recall[1].rows)}`);
  return [...parts, ...(decided.length && m.recall?.[1]?.rows ? [`${m.recall[1].class} above a probability, precision / recall: ${decided.join(', ')}`] : []),
    ...(recall.length ? [`recall: ${recall.join(', ')}${m.recall.length > 5 ? ', …' : ''}`] : []),
    ...(bins.length ? [`probability, predicted → seen: ${bins.join(', ')}`] : [])];
}

function options() {
  const value = (_, v) => (v === null || v === undefined ? '' : error(v, inPercent));
  return {
    cursor: { drag: { x: false, y: false } },
    scales: {
      x: { range: () => around(times) },
      y: { range: (_, from, to) => [0, Math.max(1e-3, (to ?? 1) * 1.1)] },
    },
    axes: [axis({ size: 28, space: 70, values: (_, splits, i, space, step) => splits.map((s) => when(s, step)) }),
      axis({ label: inPercent ? '%' : 'log loss', size: 46, values: (_, splits) => splits.map((v) => String(Math.round(v * 100) / 100)) })],
    series: [{ ...timeSeries, value: (_, v) => (v === null || v === undefined ? '' : moment(v * 1000)) },
      line('promoted', 'series-1', { value, spanGaps: true, points: { show: true, size: 6, fill: colour('series-1') } }),
      line('challengers that lost', 'series-4', { value, width: 0, points: { show: true, size: 7, width: 2, fill: colour('card') } }),
      line('best constant', 'series-2', { value, dash: [4, 4], points: { show: times.length === 1, size: 6, fill: colour('series-2') } })],
  };
}

/** around returns a span of time with room around the first and the last of some times, which may be equal. */
function around(times) {
  if (times.length === 0) return [0, 600];
  const room = Math.max(30, (times.at(-1) - times[0]) / 40);
  return times.length === 1 ? [times[0] - 300, times[0] + 300] : [times[0] - room, times.at(-1) + room];
}

/** when formats a time on an axis with the given step in seconds. */
function when(seconds, step) {
  const text = moment(seconds * 1000);
  return step >= 86400 ? text.slice(5, 10) : text.slice(11, step < 60 ? 19 : 16);
}
