// Connects the stream to the parts of the page. Each part draws from the whole state, any number of times.

import { follow } from './stream.js';
import { drawHeader } from './header.js';
import { drawSummary } from './summary.js';
import { drawLive } from './live.js';
import { drawFlow } from './flow.js';
import { drawPartitions } from './partitions.js';
import { drawExploration, drawSpectrum } from './exploration.js';
import { drawLearning } from './learning.js';
import { drawColumns } from './columns.js';
import { drawSeries } from './series.js';
import { drawHistory } from './history.js';
import { drawLetters as lettersOf } from './letters.js';
import { themeButton } from './themebutton.js';
import { sections } from './sections.js';

const state = { connection: 'connecting' };

// Parts to draw when a section arrives. Ages are relative to the process's time, which arrives every second.
const parts = {
  process: [drawHeader, drawSummary, drawLive, drawFlow, drawExploration, drawHistory, drawLetters],
  live: [drawSummary, drawLive],
  flow: [drawSummary, drawFlow, drawPartitions],
  exploration: [drawSummary, drawExploration, drawSpectrum, drawLearning, drawColumns, drawFlow],
  history: [drawSummary, drawHistory, drawFlow],
  letters: [drawSummary, drawFlow, drawLetters],
  series: [drawSeries, drawLive],
  point: [drawSeries, drawLive],
};

/** drawLetters draws the dead letters; the summary counts the unseen ones. */
function drawLetters() {
  lettersOf(state, () => later(parts.letters));
}

const due = new Set();

/** later draws parts once, however many sections arrive in between. A page in the background draws nothing. */
function later(list) {
  if (due.size === 0) {
    requestAnimationFrame(() => {
      const now = [...due];
      due.clear();
      if (state.process) for (const draw of now) draw(state);
    });
  }
  for (const draw of list) due.add(draw);
}

function take(name, value) {
  if (name === 'point') addPoint(value);
  else state[name] = value;
  later(parts[name]);
}

/** addPoint appends a newer point to the series, and drops points beyond its length. */
function addPoint(point) {
  const series = state.series;
  if (!series || (series.time.length > 0 && point.time <= series.time.at(-1))) return;
  for (const line of ['time', 'scored', 'featurized', 'trained', 'in', 'out', 'waiting', 'live_error', 'live_promised', 'letters']) {
    series[line].push(point[line]);
    if (series[line].length > state.series.keep) series[line].shift();
  }
}

follow('../api/status/events', take, (connection) => {
  state.connection = connection;
  document.body.classList.toggle('stale', connection !== 'live');
  drawHeader(state);
  drawSummary(state);
});
themeButton();
sections();
window.addEventListener('storage', () => later(parts.letters)); // viewed in another tab
window.addEventListener('themechange', () => later(Object.values(parts).flat()));
