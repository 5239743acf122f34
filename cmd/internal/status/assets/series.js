// The charts of the last hours.

import { byId, el } from './dom.js';
import { count } from './format.js';
import { Chart, axis, colour, line, timeAxis, timeSeries } from './charts.js';

// Spans of the charts, in seconds.
const spans = { '10 min': 600, '6 h': 6 * 3600 };
let span = '10 min';
let charts = null;

export function drawSeries(state) {
  if (!state.series) return;
  charts ??= build(() => drawSeries(state));
  const series = state.series;
  const from = Math.max(0, series.time.findIndex((t) => t >= series.time.at(-1) - spans[span]));
  const data = (...lines) => ['time', ...lines].map((name) => series[name].slice(from));
  const known = (...lines) => lines.some((name) => series[name].some((v) => v !== null));
  const set = (chart, ...lines) => chart.set(known(...lines) ? data(...lines) : null, series.time.length > 0 ? chart.empty : 'Known in a few seconds.');
  set(charts.rows, 'scored', 'featurized', 'trained');
  set(charts.messages, 'in', 'out');
  set(charts.waiting, 'waiting');
  const [time, letters] = data('letters');
  charts.letters.set(known('letters') ? [time, growth(letters)] : null);
}

/** growth returns how much a count grew since the first point; a count that fell was restarted. */
export function growth(counts) {
  let sum = 0;
  let last = null;
  return counts.map((v) => {
    if (v === null) return null;
    if (last !== null) sum += v >= last ? v - last : v;
    last = v;
    return sum;
  });
}

function build(redraw) {
  buttons(redraw);
  const chart = (id, none, ...lines) => new Chart(byId(id), () => options(...lines.map((make) => make())), none);
  return {
    rows: chart('rows-chart', 'This process runs no stage that handles rows.',
      () => line('scored', 'series-2'), () => line('featurized', 'series-1', filled('series-1')), () => line('trained', 'series-3')),
    messages: chart('messages-chart', 'Known in a few seconds.', () => line('events in', 'series-4'), () => line('features out', 'series-1')),
    waiting: chart('waiting-chart', 'Nothing is committed yet.', () => line('waiting', 'series-2', filled('series-2'))),
    letters: chart('letters-chart', 'Known in a few seconds.', () => line('dead letters', 'bad', filled('bad'))),
  };
}

/** buttons choose the span of the charts. */
function buttons(redraw) {
  const all = Object.keys(spans).map((name) => [name, el('button', { type: 'button', class: 'span', onclick: () => choose(name) }, name)]);
  const choose = (chosen) => {
    span = chosen;
    for (const [name, button] of all) button.setAttribute('aria-pressed', String(name === chosen));
    redraw();
  };
  for (const [name, button] of all) button.setAttribute('aria-pressed', String(name === span));
  byId('spans').append(...all.map(([, button]) => button));
}

// Steps of an axis that counts: half a message makes no sense.
const steps = Array.from({ length: 12 }, (_, i) => [1, 2, 5].map((n) => n * 10 ** i)).flat();

const filled = (name) => ({ fill: colour(name, 0.12) });

function options(...series) {
  return {
    cursor: { drag: { x: false, y: false }, sync: { key: 'minutes' } },
    scales: {
      x: { range: (_, from, to) => shown(from, to) },
      y: { range: (_, from, to) => [0, Math.max(1, (to ?? 1) * 1.08)] },
    },
    axes: [timeAxis(), axis({ values: (_, splits) => splits.map(count), incrs: steps, size: 46, space: 24 })],
    series: [timeSeries, ...series],
  };
}

/** shown returns the span that a chart shows: at least a fifth of the chosen one. */
function shown(from, to) {
  const shortest = spans[span] / 5;
  return to === null || to === undefined ? [0, shortest] : [to - Math.max(shortest, to - from), to];
}
