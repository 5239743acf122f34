// Head of the page: which pipeline and process, whether it is ready, whether figures come, and what is wrong.

import { byId, el, hint, keyed, mark, say } from './dom.js';
import { ago, clock } from './format.js';

export function drawHeader(state) {
  const { process } = state;
  drawLive(state);
  if (process) {
    say(byId('pipeline'), process.pipeline);
    document.title = `${process.pipeline} · EERF status`;
    const { build } = process;
    say(byId('build'), `${build.program} ${build.version} · kernel ${build.kernel} · runs ${process.stages.join(', ')}`);
    drawReady(process);
  }
  keyed(byId('banners'), banners(state), (b) => b.key, () => el('p', { class: 'banner' }), (node, b) => {
    mark(node, `banner ${b.kind}`);
    say(node, b.text);
  });
}

function drawLive({ connection, process }) {
  const live = byId('live');
  mark(live, `badge dot ${connection === 'live' ? 'good' : connection === 'lost' ? 'bad' : ''}`);
  say(live, connection === 'live' ? 'live' : connection === 'lost' ? 'no connection' : 'connecting');
  if (process) hint(live, `figures of ${clock(process.time)}`);
}

function drawReady({ ready, conditions, looked_at: lookedAt }) {
  const badge = byId('ready');
  badge.hidden = !conditions;
  if (!conditions) return;
  mark(badge, `badge ${ready ? 'good' : 'warn'}`);
  say(badge, ready ? 'ready' : 'not ready');
  hint(badge, conditions.map((c) => `${c.ok ? '✓' : '✗'} ${c.name}${c.detail ? ': ' + c.detail : ''}`).join('\n') +
    (lookedAt ? `\nas of ${clock(lookedAt)}` : ''));
}

/** banners are what somebody has to know before he reads on. */
function banners({ connection, process }) {
  const list = [];
  if (connection === 'lost') {
    const since = process ? ` What is shown is of ${clock(process.time)}.` : '';
    list.push({ key: 'connection', kind: 'bad', text: `This page has lost its process; it tries again.${since}` });
  }
  if (!process) return list;
  if (process.broker_error) {
    const last = process.looked_at
      ? `Figures of the whole pipeline are of ${clock(process.looked_at)}, ${ago(process.looked_at, process.time)}.`
      : 'Nothing is known of the whole pipeline yet.';
    list.push({ key: 'broker', kind: 'bad', text: `The broker does not answer: ${process.broker_error}. ${last}` });
    return list;
  }
  for (const c of process.conditions ?? []) {
    // A pipeline without a set is a beginning and no fault; the flow shows it.
    if (!c.ok && c.name !== 'feature_set') list.push({ key: c.name, kind: 'warn', text: `Not ready: ${c.name}: ${c.detail}` });
  }
  return list;
}
