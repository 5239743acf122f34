// The flow: topics and stages, connected. Stages show the work of this process and below it what the topics show of all
// processes.

import { byId, el, hint, mark, say } from './dom.js';
import { ago, count, digits, duration, full, percent, plural, rate, scoredOf } from './format.js';

// The two paths from events, as in the documentation; topics side by side are written by one stage and read by the next.
const lanes = [
  { name: 'find features', nodes: ['calibrate', ':explorations', 'subsample', [':scores', ':samples'], 'selection', ':feature-sets'] },
  { name: 'use them', nodes: ['featurize', [':features', ':live'], 'train', ':models'] },
];

let drawn = null; // nodes by name, once built

export function drawFlow(state) {
  if (!state.flow || !state.exploration || !state.history) return;
  drawn ??= build();
  for (const topic of state.flow.topics) drawTopic(drawn.get(':' + topic.role), topic, state);
  for (const stage of state.flow.stages) drawStage(drawn.get(stage.name), stage, state);
}

function build() {
  const nodes = new Map();
  const add = (name) => {
    const node = name.startsWith(':') ? topicNode(name.slice(1)) : stageNode(name);
    nodes.set(name, node);
    return node.root;
  };
  const place = (name) => (Array.isArray(name) ? el('div', { class: 'pair' }, ...name.map(add)) : add(name));
  byId('flow').append(
    el('div', { class: 'source' }, add(':events')),
    ...lanes.map((lane) => el('div', { class: 'lane', 'aria-label': lane.name }, ...lane.nodes.map(place))),
    el('div', { class: 'sink' }, el('span', { class: 'refused' }, 'unusable input'), add(':dead-letters')),
  );
  return nodes;
}

function topicNode(role) {
  const node = { name: el('span', { class: 'mono name' }, role), next: el('span', { class: 'figure' }), rate: el('span', { class: 'muted' }) };
  const link = role === 'dead-letters' ? { href: '#letters-title' } : {};
  node.root = el(link.href ? 'a' : 'div', { class: 'topic', id: `topic-${role}`, ...link }, node.name, node.next, node.rate);
  return node;
}

function stageNode(name) {
  const node = {
    badge: el('span', { class: 'badge' }),
    rate: el('span', { class: 'big', id: `rate-${name}` }), unit: el('span', { class: 'muted' }),
    lag: el('span', { class: 'lag', id: `lag-${name}` }), cores: el('span', { class: 'muted' }),
    fact: el('p', { class: 'fact', id: `fact-${name}` }),
  };
  node.here = el('div', { class: 'does' },
    el('p', { class: 'headline' }, node.rate, ' ', node.unit), el('p', { class: 'detail' }, node.lag, node.cores));
  node.root = el('article', { class: 'stage', id: `stage-${name}` },
    el('div', { class: 'stage-head' }, el('h3', {}, name), node.badge), node.here, node.fact);
  return node;
}

function drawTopic(node, topic, { process, letters }) {
  const known = process.looked_at && topic.partitions > 0;
  const changed = changes(topic);
  mark(node.root, `topic${topic.error || changed ? ' faulty' : ''}`);
  say(node.name, topic.name.endsWith(`.${topic.role}`) ? topic.role : topic.name);
  // For dead letters their number matters, not what else is on their topic.
  const ofLetters = topic.role === 'dead-letters';
  const records = ofLetters ? (letters?.read ?? 0) + (letters?.unread ?? 0) : topic.next;
  say(node.next, known && !(ofLetters && letters?.error) ? count(records) : '–');
  say(node.rate, topic.error && !known ? 'unknown' : known ? (topic.per_second > 0 ? `+${rate(topic.per_second)}/s` : 'quiet') : '');
  hint(node.root, topic.error || changed ||
    `${topic.name}: ${full(topic.next)} offsets used in ${plural(topic.partitions, 'partition')}, at most ${full(topic.kept)} kept`);
}

/** changes reports that a topic is not the one that it was when this process began. */
function changes(topic) {
  const found = [];
  if (topic.recreated) found.push(`recreated (${full(topic.recreated)}×)`);
  if (topic.truncated) found.push(`truncated (${full(topic.truncated)}×)`);
  return found.length ? `${topic.name} was found ${found.join(', ')} by this process: see EerfLogChanged in the operations guide` : '';
}

function drawStage(node, stage, state) {
  mark(node.root, `stage${stage.here ? '' : ' elsewhere'}`);
  const standing = !stage.here ? ['elsewhere', ''] : stage.joined
    ? [stage.owned?.length ? roles(stage) : 'standing by', stage.owned?.length ? 'good' : '']
    : ['joining', 'warn'];
  say(node.badge, standing[0]);
  mark(node.badge, `badge ${standing[1]}`);
  hint(node.badge, stage.detail || (stage.here ? '' : 'this process does not run this stage'));
  node.here.hidden = !stage.here;
  say(node.rate, stage.name === 'selection' ? cores(stage) : rate(stage.rows_per_second));
  say(node.unit, stage.name === 'selection' ? 'cores' : 'rows/s');
  drawLag(node.lag, stage);
  say(node.cores, stage.name === 'selection' ? '' : `${cores(stage)} cores`);
  hint(node.here, `this process: ${rate(stage.messages_per_second)} messages/s, ${count(stage.bytes_per_second)}B/s, ` +
    `${rate(stage.refused_per_second)} refused/s`);
  say(node.fact, facts[stage.name](state));
}

/** cores formats the busy time per second. */
const cores = (stage) => digits(Math.round(stage.cores * 100) / 100, 2);

/** roles describes the share of the work that this process has. */
function roles(stage) {
  if (stage.name === 'subsample' || stage.name === 'featurize') return plural(stage.owned.length, 'partition');
  return 'active';
}

function drawLag(node, stage) {
  const known = stage.lag_seconds !== null;
  say(node, known ? `${duration(stage.lag_seconds)} behind` : '');
  mark(node, `lag ${!known ? '' : stage.lag_seconds > 300 ? 'bad' : stage.lag_seconds > 60 ? 'warn' : ''}`);
}

// Summaries of the stages from the topics.
const facts = {
  calibrate({ exploration: e, process }) {
    if (e.missing_rows) return `${plural(e.missing_rows, 'labelled row')} missing for a plan`;
    if (e.fault) return `the last plan failed ${ago(e.fault_at, process.time)}`;
    if (e.requests.length > 0) return `${plural(e.requests.length, 'request')} to plan`;
    return e.status === 'none' ? 'nothing planned yet' : `planned #${e.sequence} ${ago(e.planned_at, process.time)}`;
  },
  subsample({ exploration: e }) {
    if (e.status !== 'running') return 'no exploration is running';
    return `${scoredOf(e.scored_rows, e.sample_rows, e.closed === e.partitions)} scored`;
  },
  selection({ exploration: e, history, process }) {
    if (e.status === 'running' && e.round) return e.rounds > 1 ? `round ${e.round} of at most ${e.rounds}` : 'choosing features';
    const current = history.sets.find((set) => set.current);
    return current ? `published #${current.sequence} ${ago(current.published, process.time)}` : 'no feature set yet';
  },
  featurize({ flow, history, process }) {
    const current = history.sets.find((set) => set.current);
    if (!current) return 'waiting for a feature set';
    if (!process.looked_at || flow.partitions.length === 0) return 'unknown yet';
    if (flow.waiting === null) return 'unknown for some partitions';
    return `set #${current.sequence}, ${flow.waiting === 0 ? 'nothing waits' : `${plural(flow.waiting, 'message')} ${flow.waiting === 1 ? 'waits' : 'wait'}`}`;
  },
  train({ history, process }) {
    if (history.models_error) return 'models unknown';
    const model = history.models.findLast((m) => m.current) ?? history.models.at(-1);
    if (!model) return 'no model yet';
    const error = model.error === null ? '' : `, ${percent(model.error)} error`;
    return `model ${ago(model.trained_at, process.time)}${error}`;
  },
};
