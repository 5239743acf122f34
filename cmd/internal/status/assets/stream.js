// The stream of server-sent events, and its recovery after a lost connection.

const names = ['process', 'live', 'flow', 'exploration', 'history', 'letters', 'series', 'point'];
const again = 3000; // milliseconds until a refused stream is retried

/** follow calls section(name, value) for each section that arrives, and connection('live' | 'lost') on changes. */
export function follow(url, section, connection) {
  let source;
  const open = () => {
    source = new EventSource(url);
    source.onopen = () => connection('live');
    for (const name of names) source.addEventListener(name, (event) => section(name, JSON.parse(event.data)));
    source.onerror = () => {
      connection('lost');
      // The browser resumes a broken connection, but not a refused one.
      if (source.readyState === EventSource.CLOSED) setTimeout(open, again);
    };
  };
  open();
  window.addEventListener('pagehide', () => source.close());
  // A page restored from the browser's page cache has to reconnect.
  window.addEventListener('pageshow', (event) => { if (event.persisted) open(); });
}
