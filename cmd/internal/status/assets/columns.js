// The use of the columns of events in the current feature set: a line, and a table that opens.

import { byId, cells, el, keyed, mark, row, say } from './dom.js';
import { full, plural, share } from './format.js';

const labels = ['column', 'type', 'use', 'read as', 'dimensions', 'missing', 'missing now', 'values', 'own', 'other', 'note'];
const numbers = new Set([4, 5, 6, 7, 8, 9]);
const named = 6; // number of left-out columns that the line names
const much = 0.1; // increase of missing values since calibration that is worth a look
const often = 0.05; // share of rows with a new field that is worth a look
let body = null;
let shown = null; // the table that was drawn

export function drawColumns({ exploration: e }) {
  if (!e) return;
  const table = e.columns ?? null;
  byId('columns').hidden = table === null;
  const key = JSON.stringify(table);
  if (table === null || key === shown) return;
  shown = key;
  body ??= build();
  const badge = byId('columns-left-out');
  say(badge, table.left_out === 0 ? 'all used' : `${full(table.left_out)} left out`);
  mark(badge, `badge ${table.left_out === 0 ? 'good' : 'warn'}`);
  say(byId('columns-sum'), sum(table));
  const now = new Map((table.imputed ?? []).map((c) => [c.column, c.now]));
  keyed(body, table.listed, (c) => c.column, () => row(labels), (node, c) => update(node, c, table.watched && c.use === 'feature' ? now.get(c.column) ?? 0 : null));
  const fields = table.new_fields ?? [];
  byId('columns-new').hidden = fields.length === 0;
  say(byId('columns-new'), fields.length === 0 ? '' : 'New fields of events, ignored until an exploration includes them (featurizer explorations start --from next): ' +
    fields.slice(0, named).map((f) => `${f.field} (${plural(f.rows, 'row')})`).join(', ') + (fields.length > named ? `, and ${plural(fields.length - named, 'other')}` : '') + '.');
  const note = byId('columns-note');
  note.hidden = !table.others;
  say(note, table.others ? `And ${plural(table.others, 'column')} more; featurizer inspect lists all.` : '');
}

/** sum returns the number of feature columns, and the names of the others. */
function sum(table) {
  const left = table.listed.filter((c) => c.use === 'left out').map((c) => c.column);
  const more = table.left_out - Math.min(left.length, named);
  const names = left.slice(0, named).join(', ') + (more > 0 ? ` and ${full(more)} more` : '');
  return `${full(table.features)} of ${plural(table.features + table.left_out, 'column')} are features` + (names ? `; left out: ${names}.` : '.');
}

function build() {
  const rows = el('tbody');
  const head = el('tr', {}, ...labels.map((l, i) => el('th', { scope: 'col', class: numbers.has(i) ? 'number' : '' }, l)));
  byId('columns-details').insertBefore(el('table', { class: 'cards columns' }, el('thead', {}, head), rows), byId('columns-note'));
  return rows;
}

function update(node, c, now) {
  const number = (text) => ({ text, class: text === '–' ? 'number none' : 'number' });
  cells(node, [
    { text: c.column, class: 'name' }, { text: c.type, class: 'mono' }, { text: c.use, class: c.use === 'left out' ? 'warn' : '' },
    { text: c.kind ?? '–', class: c.kind ? '' : 'none' }, number(c.dims ? full(c.dims) : '–'), number(part(c.missing)),
    now !== null && now > c.missing + much ? { text: part(now), class: 'number warn' } : number(now === null ? '–' : part(now)), number(c.distinct ? full(c.distinct) : '–'),
    number(c.kept ? full(c.kept) : '–'), number(part(c.other ?? 0)), { text: c.reason ?? '', class: 'what' },
  ]);
}

/** columnConcerns reports columns that began to lack values, and new fields. */
export function columnConcerns(e, add) {
  const table = e.columns ?? {};
  const lacking = (table.imputed ?? []).filter((c) => c.now > c.expected + much);
  if (lacking.length > 0) {
    const [c] = lacking;
    add('warn', 'imputed', `${lacking.length === 1 ? 'Column' : `${plural(lacking.length, 'column')} lack values:`} ${c.column} is missing in ${share(c.now)} of the newest rows, compared with ${share(c.expected)} in calibration.`);
  }
  const fields = (table.new_fields ?? []).filter((f) => f.now > often);
  if (fields.length > 0) {
    add('warn', 'fields', `Events have ${fields.length === 1 ? 'a new field' : `${full(fields.length)} new fields`}, ${fields.slice(0, named).map((f) => f.field).join(', ')}: ignored until an exploration includes ${fields.length === 1 ? 'it' : 'them'}.`);
  }
}

/** part formats a share; a small one is not shown as zero. */
function part(v) {
  return v === 0 ? '–' : v < 0.01 ? '<1\u202f%' : share(v);
}
