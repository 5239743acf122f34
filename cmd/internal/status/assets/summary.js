// The first part of the page: a verdict, the concerns, and the most telling figures.

import { columnConcerns } from './columns.js';
import { byId, el, hint, keyed, mark, say } from './dom.js';
import { ago, clock, count, duration, error, full, percent, plural, rate, share } from './format.js';
import { noError } from './history.js';
import { sentence } from './live.js';
import { news } from './seen.js';

const late = 300; // seconds behind that are worth a look

export function drawSummary(state) {
  const list = concerns(state);
  const verdict = judge(state, list);
  mark(byId('summary'), `panel summary ${verdict.kind}`);
  say(byId('verdict-mark'), marks[verdict.kind]);
  say(byId('verdict'), verdict.title);
  say(byId('verdict-text'), verdict.text);
  byId('verdict-text').hidden = verdict.text === '';
  keyed(byId('banners'), list, (c) => c.key, banner, (node, c) => {
    mark(node, `banner ${c.kind}`);
    say(node.text, c.text);
    const title = places[c.key];
    node.link.hidden = !title;
    if (!title) return;
    node.link.href = `#${title}`;
    say(node.link, byId(title).textContent);
  });
  if (state.process) document.title = `${titles[verdict.kind]}${state.process.pipeline} · EERF status`;
  if (state.flow && state.exploration && state.history && state.letters && state.live) drawTiles(state);
}

/** banner is a concern, with a link to the section with details. */
function banner() {
  const node = el('li', { class: 'banner' });
  node.text = el('span');
  node.link = el('a');
  node.append(node.text, ' ', node.link);
  return node;
}

// The titles of the sections with details on a concern.
const places = { letters: 'letters-title', live: 'live-title', late: 'partitions-title', fault: 'exploration-title', abandoned: 'exploration-title', model: 'models-title', imputed: 'columns-title', fields: 'columns-title' };

const marks = { good: '✓', start: '…', warn: '!', bad: '✗' };
const titles = { good: '', start: '', warn: '(!) ', bad: '(✗) ' };

function judge({ connection, process, exploration, history, letters, live }, list) {
  const bad = list.filter((c) => c.kind === 'bad');
  if (bad.length > 0) return { kind: 'bad', title: connection === 'lost' ? 'No connection' : bad.every((c) => c.key === 'live') ? 'Predictions are wrong' : 'Not working', text: '' };
  if (!process || !exploration || !history || !letters || !live || !process.looked_at) return { kind: 'start', title: 'Reading the topics', text: '' };
  const current = history.sets.find((s) => s.current);
  if (list.length > 0) return { kind: 'warn', title: list.length === 1 ? 'One concern' : `${list.length} concerns`, text: '' };
  if (!current) return { kind: 'start', title: 'Getting started', text: beginning(exploration) };
  if (!process.ready) return { kind: 'start', title: 'Getting ready', text: '' };
  const text = inUse(current, history);
  if (live.state === 'well') return { kind: 'good', title: 'All is well', text };
  return { kind: 'start', title: 'Running', text: `${text} ${sentence(live, process)}` };
}

/** inUse describes the current set and model: a new set may have no model of its own yet. */
function inUse(current, history) {
  const of = modelsSet(history);
  if (!of) return `Feature set #${current.sequence} is current; there is no model yet.`;
  return of.id === current.id ? `Feature set #${current.sequence} has a model.`
    : `Feature set #${current.sequence} is current but has no model yet; the current model belongs to ${nameOf(of)}.`;
}

/** modelsSet returns the feature set of the current model, with its sequence number if the topic still holds it; undefined without a model. */
function modelsSet({ sets, models }) {
  const id = models.findLast((m) => m.current)?.feature_set;
  return id && (sets.find((s) => s.id === id) ?? { id });
}

const nameOf = (set) => (set.sequence === undefined ? 'a deleted set' : `#${set.sequence}`);

/** beginning describes what the first feature set waits for. */
function beginning(e) {
  if (e.missing_rows) return `${plural(e.missing_rows, 'more labelled row')} needed before the first exploration is planned.`;
  if (e.status === 'running') return 'The first exploration is running; it publishes the first feature set.';
  return 'The first exploration is planned as soon as there are enough labelled rows.';
}

/** concerns lists what the reader should know first. */
function concerns(state) {
  const { connection, process } = state;
  const list = [];
  const add = (kind, key, text) => list.push({ kind, key, text });
  if (connection === 'lost') {
    add('bad', 'connection', 'The process does not answer; the page keeps trying.' + (process ? ` Figures are from ${clock(process.time)}.` : ''));
  }
  if (!process) return list;
  if (process.broker_error) {
    const last = process.looked_at ? `Figures of the whole pipeline are from ${clock(process.looked_at)}, ${ago(process.looked_at, process.time)}.`
      : 'No figures of the whole pipeline yet.';
    add('bad', 'broker', `The broker does not answer: ${process.broker_error}. ${last}`);
    return list;
  }
  for (const c of process.conditions ?? []) {
    // A pipeline without a set has only begun, which is not a fault.
    if (!c.ok && c.name !== 'feature_set') add('warn', c.name, `Not ready: ${c.name}: ${c.detail}`);
  }
  if (state.exploration) explorationConcerns(state.exploration, process, add);
  if (state.flow) flowConcerns(state.flow, process, add);
  if (state.live?.state === 'wrong') add('bad', 'live', `The current model is worse than promised. ${sentence(state.live, process)}`);
  if (state.history?.models.some((m) => m.current && m.useless)) add('warn', 'model', 'The current model is no better than a constant.');
  const letters = state.letters ? news(state.letters, process) : { count: 0 };
  if (letters.count > 0) {
    const last = state.letters.newest[0];
    add('warn', 'letters', `${letters.more ? 'At least ' : ''}${plural(letters.count, 'new dead letter')}, the last one ${ago(last.time, process.time)}: ${last.stage}: ${last.reason}.`);
  }
  return list;
}

function explorationConcerns(e, process, add) {
  if (e.fault) {
    const wait = (new Date(e.retry_at) - new Date(process.time)) / 1000;
    add('warn', 'fault', `No exploration could be planned ${ago(e.fault_at, process.time)}: ${e.fault}. ${wait > 1 ? `Next attempt in ${duration(wait)}.` : 'Retrying now.'}`);
  }
  columnConcerns(e, add);
  if (e.status === 'abandoned') add('warn', 'abandoned', `The last exploration ended without a feature set: ${e.reason}`);
}

function flowConcerns(flow, process, add) {
  const behind = flow.stages.filter((s) => s.lag_seconds > late);
  if (behind.length > 0) add('warn', 'late', behind.map((s) => `Stage ${s.name} is ${duration(s.lag_seconds)} behind.`).join(' '));
  for (const t of flow.topics) {
    // Topics without a name belong to another pipeline's sets; a missing one is among the conditions.
    if (t.name && (t.recreated || t.truncated)) {
      const what = t.recreated ? 'was recreated' : 'was truncated';
      add('warn', `topic/${t.name}`, `The topic ${t.name} ${what} while this process was running: see EerfLogChanged in the operations guide.`);
    }
  }
}

let tiles = null;

function drawTiles(state) {
  tiles ??= Object.fromEntries(Object.entries(figures).map(([name, { label }]) => [name, tile(name, label)]));
  for (const [name, { of }] of Object.entries(figures)) {
    const [figure, note, kind] = of(state);
    const old = outdated(state);
    say(tiles[name].figure, figure);
    say(tiles[name].note, old || note);
    hint(tiles[name].note, note);
    mark(tiles[name].root, `tile ${old ? 'old' : kind ?? ''}`);
  }
}

/** outdated returns the time of the figures if nothing newer is known. */
function outdated({ connection, process }) {
  if (!process.broker_error && connection !== 'lost') return '';
  return process.looked_at ? `at ${clock(process.broker_error ? process.looked_at : process.time)}` : 'unknown';
}

function tile(name, label) {
  const node = { figure: el('dd', { class: 'figure', id: `tile-${name}` }), note: el('dd', { class: 'muted note' }) };
  node.root = el('div', { class: 'tile' }, el('dt', {}, el('a', { href: `#${figures[name].more}` }, label)), node.figure, node.note);
  byId('tiles').append(node.root);
  return node;
}

// Each figure is its text, a note, and whether it is good or bad.
const figures = {
  waiting: {
    more: 'partitions-title', label: 'waiting for features',
    of({ flow, history }) {
      if (flow.waiting === null) return ['–', history.sets.some((s) => s.current) ? 'unknown yet' : 'no feature set yet'];
      const lags = flow.partitions.map((p) => p.featurize?.lag_seconds ?? 0);
      const lag = Math.max(0, ...lags);
      if (flow.waiting === 0) return ['0', 'every event has its features'];
      return [count(flow.waiting), `${flow.waiting === 1 ? 'message' : 'messages'}${lag > 0 ? `, ${duration(lag)} behind` : ''}`, lag > late ? 'warn' : ''];
    },
  },
  rate: {
    more: 'rates-title', label: 'messages/s of events',
    of({ flow, process }) {
      if (!process.looked_at) return ['–', 'unknown yet'];
      const of = (role) => flow.topics.find((t) => t.role === role).per_second;
      return [rate(of('events')), `${rate(of('features'))}/s of features`];
    },
  },
  set: {
    more: 'sets-title', label: 'feature set',
    of({ exploration: e, history, process }) {
      const current = history.sets.find((s) => s.current);
      const progress = e.status === 'running' && e.sample_rows > 0 ? `exploring: ${share(Math.min(1, e.scored_rows / e.sample_rows))} scored` : '';
      if (current) return [`#${current.sequence}`, progress || `published ${ago(current.published, process.time)}`];
      if (e.missing_rows) return ['none yet', `${full(e.present_rows ?? 0)} of ${full((e.present_rows ?? 0) + e.missing_rows)} labelled rows`];
      return ['none yet', progress];
    },
  },
  live: {
    more: 'live-title', label: 'live error',
    of({ live }) {
      const s = live.short;
      if (!s) return ['–', 'no labelled row predicted'];
      const byLoss = s.measure === 'log_loss';
      const promised = byLoss ? s.promised : s.promised_error;
      const promise = promised === undefined ? '' : `; promised: ${error(promised, !byLoss)}`;
      const wrong = byLoss ? `log loss; ${percent(s.error)} wrong; ` : '';
      return [error(byLoss ? s.loss : s.error, !byLoss), `${wrong}newest ${plural(s.rows, 'row')}${promise}`, live.state === 'wrong' ? 'warn' : ''];
    },
  },
  model: {
    more: 'models-title', label: 'promised error',
    of({ history, process }) {
      if (history.models_error) return ['–', 'unknown'];
      const model = history.models.findLast((m) => m.current);
      if (!model) return ['–', 'no model'];
      const of = modelsSet(history);
      const than = (of.id === history.sets.find((s) => s.current)?.id ? '' : ` on ${nameOf(of)}`) + (model.constant === null ? '' : `; a constant: ${error(model.constant, model.percent)}`);
      if (model.error === null) return ['–', noError];
      const wrong = model.measure === 'log loss' && model.measures.misclassification !== undefined ? `; ${percent(model.measures.misclassification)} wrong` : '';
      return [error(model.error, model.percent), `${model.measure}${wrong}; on ${plural(model.held_out_rows, 'row')}, ${ago(model.trained_at, process.time)}${than}`, model.useless ? 'warn' : ''];
    },
  },
  letters: {
    more: 'letters-title', label: 'dead letters',
    of({ letters, process }) {
      if (letters.error) return ['–', 'unknown'];
      const fresh = news(letters, process);
      if (fresh.count > 0) return [`${fresh.count}${fresh.more ? '+' : ''} new`, `last ${ago(letters.newest[0].time, process.time)}`, 'warn'];
      return letters.newest.length > 0 ? ['0 new', `last ${ago(letters.newest[0].time, process.time)}`] : ['0', 'every message was usable'];
    },
  },
};
