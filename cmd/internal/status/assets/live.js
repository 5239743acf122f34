// Errors of live predictions: the newest ones next to the promise, recently and by hour.

import { byId, keyed, el, mark, say } from './dom.js';
import { ago, error, figure, full, percent, plural } from './format.js';
import { Chart, axis, line, timeAxis, timeSeries } from './charts.js';

const words = { well: ['as promised', 'good'], wrong: ['worse than promised', 'bad'], unknown: ['unknown', ''] };
let charts = null;

export function drawLive({ live, series, process }) {
  if (!live) return;
  const [text, kind] = words[live.state];
  const badge = byId('live-state');
  say(badge, text);
  mark(badge, `badge ${kind}`);
  say(byId('live-text'), sentence(live, process));
  keyed(byId('live-figures'), live.short ? figures(live) : [], (t) => t, () => el('li'), say);
  charts ??= { recent: chart('live-chart', 'No prediction of a labelled row yet.'), hours: chart('live-hours', 'The first hour has not ended.') };
  drawCharts(live, series);
}

/** sentence summarizes the newest rows. */
export function sentence(live, process) {
  const s = live.short;
  if (!s) return 'No live error yet: no labelled row was predicted by a model.';
  const rows = `${judged(s, s.loss, s.error)} on the newest ${plural(s.rows, 'labelled row')}, the last one ${ago(s.to, process.time)}`;
  const promise = s.promised_error === undefined ? '' : `; promised: ${judged(s, s.promised, s.promised_error)} on ${plural(s.promised_rows ?? 0, 'held-out row')}`;
  const noise = live.excess_standard_errors === undefined ? ' A verdict needs 1,000 rows in four blocks.'
    : live.state === 'wrong' ? ` The ${live.excess_measure.replaceAll('_', ' ')} is ${live.excess_standard_errors.toFixed(1)} standard errors above the promise, too high since ${ago(live.wrong_since, process.time)}.` : '';
  return `${rows}${asked(s)}${promise}.${noise}`;
}

/** asked names the column of predictions that the rows bring, if any. */
const asked = (s) => (s.prediction_column ? `, predicted by the column ${s.prediction_column}` : '');

/** judged is the deciding error of some rows, and for classes the share of wrong predictions. */
function judged(f, loss, wrong) {
  if (f.measure === 'log_loss') return `log loss ${error(loss, false)}, ${percent(wrong)} wrong`;
  if (f.measure === 'squared_error') return `squared error ${figure(loss)}, ${percent(wrong)} of the variance`;
  return `${percent(wrong)} wrong`;
}

/** figures lists the other figures, among them the error of the newest 10,000 rows. */
function figures({ short: s, long: l }) {
  const loss = { log_loss: 'log loss', squared_error: 'squared error', misclassification: '' }[s.measure];
  const beside = [s.promised === undefined ? '' : `promised ${figure(s.promised)}`, s.constant === undefined ? '' : `a constant ${figure(s.constant)}`].filter(Boolean).join(', ');
  const unknown = s.unknown_class_rows ?? 0;
  return [
    ...(unknown ? [`${plural(unknown, 'row')} of classes unknown to the feature set, counted as wrong`] : []),
    s.prediction_column ? 'predictions made when the rows were requested' : 'predictions made when the labelled rows arrived',
    ...(loss ? [`${loss} ${figure(s.loss)}${beside ? ` (${beside})` : ''}`] : []),
    `a constant: ${percent(s.constant_error)} ${s.measure === 'squared_error' ? 'of the variance' : 'wrong'}`,
    `newest ${full(l.rows)}: ${judged(l, l.loss, l.error)}` + (l.promised_error === undefined ? '' : `, promised ${judged(l, l.promised, l.promised_error)}`),
    ...(s.auc === undefined ? [] : [`AUC ${figure(s.auc)}`]),
    ...(s.rmse ? [`RMSE ${s.rmse.map(figure).join(', ')}`, `MAE ${s.mae.map(figure).join(', ')}`] : []),
  ];
}

const chart = (id, none) => new Chart(byId(id), options, none);

function drawCharts(live, series) {
  const known = series?.live_error.some((v) => v !== null);
  charts.recent.set(known ? [series.time, series.live_error, series.live_promised] : null);
  const of = (field) => live.hours.map((h) => h[field] ?? null);
  charts.hours.set(live.hours.length > 1 ? [live.hours.map((h) => Date.parse(h.start) / 1000 + 1800), of('error'), of('promised_error')] : null);
}

function options() {
  const value = (_, v) => (v === null || v === undefined ? '' : percent(v));
  return {
    cursor: { drag: { x: false, y: false } },
    scales: { y: { range: (_, from, to) => [0, Math.max(1e-9, to ?? 1) * 1.08] } },
    axes: [timeAxis(), axis({ label: '%', size: 52, values: (_, splits) => splits.map((v) => (v === null ? '' : String(v))) })],
    series: [timeSeries, line('live error', 'series-1', { value, points: { show: true, size: 4 } }), line('promised', 'series-3', { value, dash: [6, 4] })],
  };
}
