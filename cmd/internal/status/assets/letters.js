// Dead letters by reason, and the newest of them.

import { byId, el, hint, keyed, mark, meter, say } from './dom.js';
import { ago, clock, full, moment, plural, rate } from './format.js';
import { look, news } from './seen.js';

let nodes = null;

/** drawLetters draws them; seen is called when somebody has viewed the new ones. */
export function drawLetters({ letters: l, process }, seen) {
  if (!l || !process) return;
  nodes ??= build();
  drawBadges(l, process, seen);
  const any = l.reasons.length > 0;
  nodes.empty.hidden = any;
  nodes.both.hidden = byId('letters-past').hidden = !any;
  say(nodes.empty, l.error ? `Dead letters unknown: ${l.error}`
    : process.looked_at ? 'No dead letters: every message was usable so far.' : 'Unknown yet.');
  const most = Math.max(1, ...l.reasons.map((r) => Math.max(r.letters, r.here)));
  keyed(nodes.reasons, l.reasons, (r) => `${r.stage}/${r.reason}`, makeReason, (node, r) => updateReason(node, r, most, process));
  keyed(nodes.newest, l.newest, (n) => `${n.stage}/${n.topic}/${n.partition}/${n.offset}/${n.time}`, makeLetter, updateLetter);
  say(nodes.text, note(l));
}

/** drawBadges shows the current rate, and how many came since the last visit. */
function drawBadges(l, process, seen) {
  const badge = byId('letters-rate');
  say(badge, l.error ? 'unknown' : l.per_second > 0 ? `+${rate(l.per_second)}/s` : 'no new ones');
  mark(badge, `badge ${l.error ? '' : l.per_second > 0 ? 'warn' : 'good'}`);
  const fresh = news(l, process);
  const button = byId('letters-seen');
  byId('letters-new').hidden = button.hidden = fresh.count === 0;
  say(byId('letters-new'), `${fresh.count}${fresh.more ? ' or more' : ''} new`);
  button.onclick = () => {
    look(l, process);
    seen();
  };
}

function note(l) {
  const passed = l.unread > 0 ? ` ${full(l.unread)} more arrived too fast to be read.` : '';
  const from = l.from ? `, since ${moment(l.from)}` : '';
  return `The topic spans ${plural(l.kept, 'offset')}; the reasons are those of the newest ${full(l.read)}${from}.${passed}`;
}

function build() {
  const n = { reasons: el('ul', { class: 'reasons' }), newest: el('ol', { class: 'newest' }), text: el('span'), empty: el('p', { class: 'empty' }) };
  n.note = el('p', { class: 'note' }, n.text, ' Replay them with ', el('code', { class: 'mono' }, 'featurizer dead-letters replay'), '.');
  n.both = el('div', { class: 'letters' },
    el('div', {}, el('h3', {}, 'By reason'), n.reasons, n.note), el('div', {}, el('h3', {}, 'Newest'), n.newest));
  byId('letters').append(n.both, n.empty);
  return n;
}

function makeReason() {
  const node = el('li');
  node.reason = el('span', { class: 'mono reason' });
  node.stage = el('span', { class: 'muted' });
  node.letters = el('span', { class: 'number from pipeline' });
  node.here = el('span', { class: 'number from here' });
  node.bar = el('div', { class: 'bar bad' });
  node.append(node.reason, node.stage, node.letters, node.here, node.bar);
  return node;
}

function updateReason(node, r, most, process) {
  say(node.reason, r.reason);
  say(node.stage, r.stage + (r.rows > 0 ? `, ${plural(r.rows, 'row')}` : ''));
  say(node.letters, full(r.letters));
  say(node.here, full(r.here));
  node.letters.title = 'among the newest dead letters of the topic';
  node.here.title = 'sent by this process since it started';
  node.title = r.last ? `last ${ago(r.last, process.time)}` : '';
  meter(node.bar, Math.max(r.letters, r.here) / most);
}

function makeLetter() {
  const node = el('li');
  node.time = el('time', { class: 'muted' });
  node.what = el('span', { class: 'mono' });
  node.detail = el('span', { class: 'detail' });
  node.append(node.time, node.what, node.detail);
  return node;
}

function updateLetter(node, letter) {
  say(node.time, clock(letter.time));
  node.time.title = moment(letter.time);
  say(node.what, `${letter.topic}/${letter.partition} @ ${full(letter.offset)}` + (letter.rows > 0 ? `, ${plural(letter.rows, 'row')}` : ''));
  const detail = `${letter.stage}: ${letter.detail || letter.reason}`;
  say(node.detail, detail);
  hint(node.detail, detail);
}
