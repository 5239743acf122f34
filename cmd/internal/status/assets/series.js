// The charts of the last minutes.

import { byId } from './dom.js';
import { count } from './format.js';
import { Chart, axis, colour, line, timeAxis, timeSeries } from './charts.js';

const longest = 600; // seconds
const shortest = 120;
let charts = null;

export function drawSeries({ series }) {
  if (!series) return;
  charts ??= build();
  const data = (...lines) => [series.time, ...lines.map((name) => series[name])];
  const known = (...lines) => lines.some((name) => series[name].some((v) => v !== null));
  charts.rows.set(known('scored', 'featurized', 'trained') ? data('scored', 'featurized', 'trained') : null);
  charts.messages.set(known('in', 'out') ? data('in', 'out') : null);
  charts.waiting.set(known('waiting') ? data('waiting') : null);
}

function build() {
  return {
    rows: new Chart(byId('rows-chart'), () => options(line('scored', 'series-2'), line('featurized', 'series-1', filled('series-1')), line('trained', 'series-3')),
      'This process runs no stage that handles rows.'),
    messages: new Chart(byId('messages-chart'), () => options(line('events in', 'series-4'), line('features out', 'series-1')),
      'Rates of the topics come with the second look at them, in a few seconds.'),
    waiting: new Chart(byId('waiting-chart'), () => options(line('waiting', 'series-2', filled('series-2'))), 'Nothing is committed yet.'),
  };
}

const filled = (name) => ({ fill: colour(name, 0.12) });

function options(...series) {
  return {
    cursor: { drag: { x: false, y: false }, sync: { key: 'minutes' } },
    legend: { live: true },
    scales: {
      x: { range: (_, from, to) => (to === null || to === undefined ? [0, shortest] : [to - Math.min(longest, Math.max(shortest, to - from)), to]) },
      y: { range: (_, from, to) => [0, Math.max(1, (to ?? 1) * 1.08)] },
    },
    axes: [timeAxis(), axis({ values: (_, splits) => splits.map(count), size: 46, space: 28 })],
    series: [timeSeries, ...series],
  };
}
