// Charts by uPlot, in the colours of the theme and as wide as their container.

import uPlot from './vendor/uplot/uPlot.esm.js';
import { clock, count } from './format.js';
import { el, say } from './dom.js';

const probe = el('span', { hidden: true });
document.documentElement.append(probe);

/** colour returns a colour variable of the style sheet, in the current theme. */
export function colour(name, alpha = 1) {
  probe.style.color = `var(--${name})`;
  const rgb = getComputedStyle(probe).color;
  return alpha === 1 ? rgb : rgb.replace('rgb(', 'rgba(').replace(')', `, ${alpha})`);
}

/** Chart draws the data in a node as options() describes; without data it shows a message. */
export class Chart {
  constructor(node, options, empty) {
    this.node = node;
    this.options = options;
    this.empty = empty;
    this.message = el('p', { class: 'empty over' }, empty);
    this.place = el('div', { class: 'place' });
    node.append(this.place, this.message);
    this.data = null;
    new ResizeObserver(() => this.fit()).observe(this.place);
    window.addEventListener('themechange', () => this.rebuild());
  }

  size() {
    return { width: Math.max(160, Math.floor(this.place.clientWidth)), height: Math.floor(this.place.clientHeight) };
  }

  fit() {
    if (!this.plot) return;
    const { width, height } = this.size();
    const legend = (this.plot.root.querySelector('.u-legend')?.offsetHeight ?? 0) + 2;
    if (width !== this.plot.width || height - legend !== this.plot.height) this.plot.setSize({ width, height: Math.max(60, height - legend) });
  }

  /** set draws data; null shows a message, its own if given. */
  set(data, message) {
    if (message !== undefined) say(this.message, message);
    this.message.hidden = data !== null;
    this.place.classList.toggle('faint', data === null);
    this.data = data;
    if (!this.plot) this.rebuild();
    else this.plot.setData(data ?? this.none());
  }

  none() {
    return this.options().series.map(() => []);
  }

  rebuild() {
    this.plot?.destroy();
    this.plot = new uPlot({ ...this.size(), legend: { live: false }, plugins: [tip()], ...this.options() }, this.data ?? this.none(), this.place);
    this.fit();
  }
}

/** tip shows the values of all lines at the cursor, next to it. */
function tip() {
  const node = el('div', { class: 'tip', hidden: true });
  const init = (u) => u.over.append(node);
  const setCursor = (u) => {
    const { idx, left } = u.cursor;
    const lines = idx === null || idx === undefined || left < 0 ? [] : u.series.flatMap((s, i) => {
      const text = i === 0 || s.show ? String(s.value(u, u.data[i][idx], i, idx) ?? '') : '';
      if (text === '') return [];
      const swatch = i === 0 ? null : el('i');
      if (swatch) swatch.style.background = s.stroke(u, i);
      return [el('div', {}, swatch, i === 0 ? text : `${s.label} ${text}`)];
    });
    node.hidden = lines.length < 2; // the time alone is no information
    node.replaceChildren(...lines);
    const room = u.over.clientWidth - left - 14;
    node.style.transform = `translateX(${Math.max(0, room > node.offsetWidth ? left + 14 : left - 14 - node.offsetWidth)}px)`;
  };
  return { hooks: { init, setCursor } };
}

/** axis holds the options that all axes share. */
export function axis(more = {}) {
  const font = '12px ' + getComputedStyle(document.body).fontFamily;
  return {
    stroke: colour('muted'), font, labelFont: font, labelSize: 18, labelGap: 2,
    grid: { stroke: colour('line'), width: 1 }, ticks: { show: false }, ...more,
  };
}

/** line returns a series. */
export function line(label, name, more = {}) {
  return { label, stroke: colour(name), width: 2, points: { show: false }, value: (_, v) => (v === null || v === undefined ? '' : count(v)), ...more };
}

// Steps of a time axis, in seconds.
const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200];

/** timeAxis and timeSeries are shared by charts over time. */
export const timeAxis = (more = {}) => axis({ values: (_, splits) => splits.map((s) => clock(s * 1000).slice(0, splits.length > 1 && splits[1] - splits[0] < 60 ? 8 : 5)), space: (_u, _axis, from, to) => (to - from > 300 ? 56 : 80), size: 28, incrs: steps, ...more });
export const timeSeries = { label: '', value: (_, v) => (v === null || v === undefined ? '' : clock(v * 1000)) };
