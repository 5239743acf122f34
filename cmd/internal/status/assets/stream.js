// The stream of server-sent events, and what becomes of it when the connection goes.

const names = ['process', 'live', 'flow', 'exploration', 'history', 'letters', 'series', 'point'];
const again = 3000; // milliseconds until a refused stream is asked for again

/** follow calls section(name, value) for what comes, and connection('live' | 'lost') as it changes. */
export function follow(url, section, connection) {
  let source;
  const open = () => {
    source = new EventSource(url);
    source.onopen = () => connection('live');
    for (const name of names) source.addEventListener(name, (event) => section(name, JSON.parse(event.data)));
    source.onerror = () => {
      connection('lost');
      // A broken connection is taken up again by the browser; one that was refused is not.
      if (source.readyState === EventSource.CLOSED) setTimeout(open, again);
    };
  };
  open();
  window.addEventListener('pagehide', () => source.close());
  // A page that comes back from the browser's cache of pages has to look again.
  window.addEventListener('pageshow', (event) => { if (event.persisted) open(); });
}
