// Numbers and times as people read them. A thin space stands between a number and its unit.

const thin = '\u202f';
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

/** digits rounds to three significant digits. */
export function digits(n, significant = 3) {
  return new Intl.NumberFormat('en', { maximumSignificantDigits: significant }).format(n);
}

/** full is a whole number with separators. */
export function full(n) {
  return whole.format(n);
}

/** figure is a figure in three digits, or whole. */
export const figure = (n) => (Math.abs(n) < 1000 ? n.toPrecision(3) : full(n));

/** count is a number that may be large: 950, 12.3 k, 4.56 M. */
export function count(n) {
  const size = Math.abs(n);
  if (size < 1e4) return size < 10 && !Number.isInteger(n) ? digits(n, 2) : whole.format(n);
  for (const [unit, of] of [['G', 1e9], ['M', 1e6], ['k', 1e3]]) {
    if (size >= of * 0.9995) return digits(n / of) + thin + unit;
  }
  return whole.format(n);
}

/** rate is a number of things a second. */
export function rate(n) {
  if (n > 0 && n < 0.05) return '<0.1';
  return n < 10 ? digits(Math.round(n * 10) / 10) : count(Math.round(n));
}

/** percent is of a number that is in percent already. */
export function percent(n) {
  return (n < 9.95 ? n.toFixed(2) : n.toFixed(1)) + thin + '%';
}

/** share is of a number from 0 to 1. */
export function share(n) {
  return Math.round(n * 100) + thin + '%';
}

/** bytes is a size. */
export function bytes(n) {
  for (const [unit, of] of [['GB', 1e9], ['MB', 1e6], ['kB', 1e3]]) {
    if (n >= of) return digits(n / of) + thin + unit;
  }
  return whole.format(n) + thin + 'B';
}

/** duration is of seconds. */
export function duration(s) {
  if (s < 0.001) return '0' + thin + 's';
  if (s < 1) return digits(Math.round(s * 1000)) + thin + 'ms';
  if (s < 10) return s.toFixed(1) + thin + 's';
  if (s < 90) return Math.round(s) + thin + 's';
  if (s < 90 * 60) return Math.round(s / 60) + thin + 'min';
  if (s < 48 * 3600) return digits(s / 3600, 2) + thin + 'h';
  return Math.round(s / 86400) + thin + 'd';
}

/** ago is how long before now a time was; both in milliseconds or as ISO text. */
export function ago(time, now) {
  const s = (new Date(now) - new Date(time)) / 1000;
  return s < 2 ? 'just now' : duration(s) + ' ago';
}

/** clock is a time of day. */
export function clock(time) {
  return new Date(time).toLocaleTimeString('en-GB');
}

/** moment is a date with its time of day. */
export function moment(time) {
  const d = new Date(time);
  return d.toLocaleDateString('en-CA') + ' ' + clock(d);
}

/** shortId cuts the id of a set or model for a table; the whole is its title. */
export function shortId(id) {
  return id.length > 14 ? id.slice(0, 11) + '…' : id;
}

/** scoredOf says how many rows of a sample are scored. How many it has is an estimate until it is closed. */
export function scoredOf(scored, expected, closed, number = count) {
  return closed || scored > expected ? `${number(scored)} rows` : `${number(scored)} of about ${number(expected)} rows`;
}

/** plural is a count with the word for it. */
export function plural(n, one, many = one + 's') {
  return `${full(n)} ${n === 1 ? one : many}`;
}
