// Head of the page: pipeline and process, readiness, connection.

import { byId, hint, mark, say } from './dom.js';
import { clock } from './format.js';

export function drawHeader(state) {
  const { process } = state;
  drawLive(state);
  if (!process) return;
  say(byId('pipeline'), process.pipeline);
  const { build } = process;
  say(byId('build'), `${build.program} ${build.version}${build.revision ? ` (${build.revision.slice(0, 9)})` : ''} · kernel ${build.kernel} · runs ${process.stages.join(', ')}`);
  drawReady(process);
}

function drawLive({ connection, process }) {
  const live = byId('live');
  mark(live, `badge dot ${connection === 'live' ? 'good' : connection === 'lost' ? 'bad' : ''}`);
  say(live, connection === 'live' ? 'live' : connection === 'lost' ? 'no connection' : 'connecting');
  if (process) hint(live, `figures from ${clock(process.time)}`);
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
