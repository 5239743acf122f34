// How features are learned: the loss on held-out rows of each intermediate set, and the importance of columns.

import { byId, el, keyed, mark, meter, say } from './dom.js';
import { digits, full, percent, plural } from './format.js';
import { Chart, axis, colour, line } from './charts.js';

// Names of the sets on the axis.
const legend = ' r 1 is the set after round 1, s 8 the set after step 8 of refining.';
let chart = null;
let shown = null; // the data that was drawn
let drawn = null;

export function drawLearning({ exploration: e }) {
  if (!e) return;
  const l = e.learning ?? null;
  byId('learning').hidden = l === null;
  const key = JSON.stringify(l);
  if (l === null || key === shown) return;
  shown = key;
  drawn = l;
  const done = l.winner !== undefined;
  const badge = byId('learning-best');
  say(badge, done ? `${long(l.points[l.winner])} won` : 'learning');
  mark(badge, `badge ${done ? 'good' : 'live'}`);
  chart ??= new Chart(byId('learning-chart'), options, '');
  chart.rebuild();
  const loss = l.points.map((p) => 100 * p.held_out_loss);
  const error = l.points.map((p) => 100 * p.standard_error);
  chart.set([l.points.map((_, i) => i), loss, loss.map((v, i) => Math.max(v - error[i], v / 4)), loss.map((v, i) => v + error[i])]);
  say(byId('learning-note'), (done ? summary(l) : `${plural(l.points.length, 'set')} of features measured so far.`) + legend);
  drawColumns(l);
}

/** summary names the winning set, and the limits of its loss. */
function summary(l) {
  const best = l.points[l.winner];
  const loss = `${percent(100 * best.held_out_loss)} ± ${percent(100 * best.standard_error)}`;
  const fallback = best.kind === 'residual' ? ' Nothing learned was better.' : '';
  return `${loss}, judged on ${plural(l.held_out_rows, 'held-out row')}; learned from ${full(l.rows)}.${fallback}` +
    (best.kind === 'mean' ? ' Each member has the smallest of its losses, so this is' : ` The smallest of ${full(l.points.length)} losses is`) +
    ' not an estimate of the error on new rows.';
}

// Kinds of the pools of a round.
const tracks = { mixed: ' of all kinds', cosine: ' of cosines', both: ' of both together' };

/** long describes the features of a set on the way. */
function long(p) {
  if (p.kind === 'mean') return 'mean of the members';
  const of = p.kind === 'residual' ? 'criterion residual' : `${p.kind === 'step' ? `step ${p.step ?? 0} from ` : ''}round ${p.round}${tracks[p.track] ?? ''}`;
  return p.member ? `member ${p.member}: ${of}` : of;
}

const short = (p) => (p.kind === 'mean' ? 'mean' : p.kind === 'residual' ? 'residual' : p.kind === 'step' ? `s ${p.step ?? 0}` : `r ${p.round}`);

function drawColumns(l) {
  const columns = l.columns ?? [];
  const most = columns[0]?.share ?? 1;
  keyed(byId('importance'), columns, (c) => c.column, make, (node, c) => {
    say(node.name, c.column);
    meter(node.bar, most > 0 ? c.share / most : 0);
    say(node.share, percent(100 * c.share));
  });
  say(byId('importance-note'), columns.length === 0 ? 'Known when the set is published.'
    : 'Share of the squared gradient of the model that the features were learned with.' +
      (l.other_columns ? ` ${plural(l.other_columns, 'other column')} together: ${percent(100 * l.other_share)}.` : ''));
}

function make() {
  const node = el('li');
  node.name = el('span', { class: 'name' });
  node.bar = el('div', { class: 'bar' });
  node.share = el('span', { class: 'share' });
  node.append(node.name, node.bar, node.share);
  return node;
}

function options() {
  const points = drawn?.points ?? [];
  const losses = points.map((p) => 100 * p.held_out_loss).filter((v) => v > 0);
  const low = Math.min(...losses);
  const high = Math.max(...losses);
  const steep = losses.length > 1 && high > 4 * low;
  const room = high - low || high || 1; // an axis from 0 would show a straight line
  const value = (_, v) => (v === null || v === undefined ? '' : percent(v));
  return {
    cursor: { drag: { x: false, y: false } },
    scales: {
      x: { time: false, range: () => [-0.3, Math.max(points.length - 0.7, 1)] },
      y: steep ? { distr: 3, range: () => [low / 1.3, high * 2] } : { range: () => (losses.length === 0 ? [0, 1] : [Math.max(0, low - 0.15 * room), high + 0.35 * room]) },
    },
    axes: [
      axis({ size: 28, space: 52, incrs: [1, 2, 5, 10, 20, 50, 100], values: (_, splits) => splits.map((i) => (points[i] ? short(points[i]) : '')) }),
      axis({ label: '%', size: 52, ...(steep ? { splits: () => round(low / 1.3, high * 2), filter: (_, splits) => splits } : {}), values: (_, splits) => splits.map((v) => digits(v, 3)) }),
    ],
    series: [
      { label: '', value: (_, i) => (points[i] ? long(points[i]) : '') },
      line('loss', 'series-1', { value, points: { show: true, size: 6, fill: colour('series-1') } }),
      line('− standard error', 'series-1', { width: 0, value, class: 'edge' }),
      line('+ standard error', 'series-1', { width: 0, value, class: 'edge' }),
    ],
    bands: [{ series: [3, 2], fill: colour('series-1', 0.16) }],
    hooks: { drawAxes: [(u) => drawn && drawPhases(u)], draw: [(u) => drawn?.winner !== undefined && markWinner(u)] },
  };
}

/** round returns a handful of round numbers between two, evenly spaced as factors. */
function round(from, to) {
  const all = Array.from({ length: 13 }, (_, i) => i - 6).flatMap((e) => [1, 1.5, 2, 3, 5, 7].map((n) => n * 10 ** e)).filter((v) => v >= from && v <= to);
  const every = Math.ceil(all.length / 6);
  return all.filter((_, i) => i % every === 0);
}

/** phases returns the runs of sets measured after rounds, and after refinement steps. */
function phases(points) {
  const list = [];
  points.forEach((p, i) => {
    const name = p.kind === 'step' ? 'refining' : p.kind === 'residual' || p.kind === 'mean' ? '' : 'rounds';
    if (list.at(-1)?.name !== name) list.push({ name, from: i, to: i });
    list.at(-1).to = i;
  });
  return list;
}

/** drawPhases shades the refinement phases and names all phases. */
function drawPhases(u) {
  const { ctx, bbox } = u;
  const scale = devicePixelRatio;
  const at = (i) => Math.max(bbox.left, Math.min(bbox.left + bbox.width, u.valToPos(i, 'x', true)));
  ctx.save();
  ctx.font = `${12 * scale}px ${getComputedStyle(document.body).fontFamily}`;
  for (const { name, from, to } of phases(drawn.points)) {
    const [left, right] = [at(from - 0.5), at(to + 0.5)];
    if (name === 'refining') {
      ctx.fillStyle = colour('series-4', 0.08);
      ctx.fillRect(left, bbox.top, right - left, bbox.height);
    }
    if (ctx.measureText(name).width + 8 * scale > right - left) continue;
    ctx.fillStyle = colour('muted');
    ctx.textAlign = 'center';
    ctx.fillText(name, (left + right) / 2, bbox.top + 13 * scale);
  }
  ctx.restore();
}

/** markWinner circles the winning set and shows its loss; its name is in the head, where there is room. */
function markWinner(u) {
  const { ctx, bbox } = u;
  const scale = devicePixelRatio;
  const best = drawn.points[drawn.winner];
  const x = u.valToPos(drawn.winner, 'x', true);
  const y = u.valToPos(100 * best.held_out_loss, 'y', true);
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = colour('good');
  ctx.lineWidth = 2 * scale;
  ctx.beginPath();
  ctx.arc(x, y, 7 * scale, 0, 2 * Math.PI);
  ctx.stroke();
  ctx.font = `${12 * scale}px ${getComputedStyle(document.body).fontFamily}`;
  const text = percent(100 * best.held_out_loss);
  const left = x + 8 * scale + ctx.measureText(text).width > bbox.left + bbox.width;
  ctx.textAlign = left ? 'right' : 'left';
  const at = [text, x + (left ? 4 : -4) * scale, y - 13 * scale < bbox.top + 12 * scale ? y + 22 * scale : y - 13 * scale];
  ctx.strokeStyle = colour('card'); // the line does not cross it
  ctx.lineWidth = 5 * scale;
  ctx.lineJoin = 'round';
  ctx.strokeText(...at);
  ctx.fillText(...at);
  ctx.restore();
}
