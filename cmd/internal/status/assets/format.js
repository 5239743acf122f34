// Numbers and times for people. A thin space stands between a number and its unit.

const thin = '\u202f';
const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });

/** digits rounds to three significant digits. */
export function digits(n, significant = 3) {
  return new Intl.NumberFormat('en', { maximumSignificantDigits: significant }).format(n);
}

/** full formats a whole number with separators. */
export function full(n) {
  return whole.format(n);
}

/** figure formats a number with three digits, or whole. */
export const figure = (n) => (Math.abs(n) < 1000 ? n.toPrecision(3) : full(n));

/** count formats a number that may be large: 950, 12.3 k, 4.56 M. */
export function count(n) {
  const size = Math.abs(n);
  if (size < 1e4) return size < 10 && !Number.isInteger(n) ? digits(n, 2) : whole.format(n);
  for (const [unit, of] of [['G', 1e9], ['M', 1e6], ['k', 1e3]]) {
    if (size >= of * 0.9995) return digits(n / of) + thin + unit;
  }
  return whole.format(n);
}

/** rate formats a number per second. */
export function rate(n) {
  if (n > 0 && n < 0.05) return '<0.1';
  return n < 10 ? digits(Math.round(n * 10) / 10) : count(Math.round(n));
}

/** percent formats a number that is in percent already. */
export function percent(n) {
  return (n < 9.95 ? n.toFixed(2) : n.toFixed(1)) + thin + '%';
}

/** error formats an error of a model, in percent or as a plain figure such as a log loss. */
export const error = (n, inPercent) => (inPercent ? percent(n) : n.toFixed(4));

/** share formats a number from 0 to 1 in percent. */
export function share(n) {
  return Math.round(n * 100) + thin + '%';
}

/** bytes formats a size. */
export function bytes(n) {
  for (const [unit, of] of [['GB', 1e9], ['MB', 1e6], ['kB', 1e3]]) {
    if (n >= of) return digits(n / of) + thin + unit;
  }
  return whole.format(n) + thin + 'B';
}

/** duration formats seconds. */
export function duration(s) {
  if (s < 0.001) return '0' + thin + 's';
  if (s < 1) return digits(Math.round(s * 1000)) + thin + 'ms';
  if (s < 10) return s.toFixed(1) + thin + 's';
  if (s < 90) return Math.round(s) + thin + 's';
  if (s < 90 * 60) return Math.round(s / 60) + thin + 'min';
  if (s < 48 * 3600) return digits(s / 3600, 2) + thin + 'h';
  return Math.round(s / 86400) + thin + 'd';
}

/** ago formats how long before now a time was; both in milliseconds or as ISO text. */
export function ago(time, now) {
  const s = (new Date(now) - new Date(time)) / 1000;
  return s < 2 ? 'just now' : duration(s) + ' ago';
}

/** clock formats a time of day. */
export function clock(time) {
  return new Date(time).toLocaleTimeString('en-GB');
}

/** moment formats a date with its time of day. */
export function moment(time) {
  const d = new Date(time);
  return d.toLocaleDateString('en-CA') + ' ' + clock(d);
}

/** shortId shortens the id of a set or model for a table; the title has all of it. */
export function shortId(id) {
  return id.length > 14 ? id.slice(0, 11) + '…' : id;
}

/** scoredOf formats how many rows of a sample are scored. The size of the sample is an estimate until it is closed. */
export function scoredOf(scored, expected, closed, number = count) {
  return closed || scored > expected ? `${number(scored)} rows` : `${number(scored)} of about ${number(expected)} rows`;
}

/** plural formats a count with its noun. */
export function plural(n, one, many = one + 's') {
  return `${full(n)} ${n === 1 ? one : many}`;
}
