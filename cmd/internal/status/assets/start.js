// The button that asks for an exploration, and its dialog.

import { byId, hint } from './dom.js';

let wired = false;

export function drawStart({ process, exploration }) {
  if (!process || !exploration) return;
  if (!wired) wire();
  const button = byId('start');
  const busy = exploration.status === 'running' || exploration.requests.length > 0;
  button.disabled = !process.start.possible || busy;
  hint(button, process.start.why ?? '');
}

function wire() {
  wired = true;
  const dialog = byId('start-dialog');
  byId('start').addEventListener('click', () => {
    fail('');
    dialog.showModal();
    byId('start-token').focus();
  });
  byId('start-cancel').addEventListener('click', () => dialog.close());
  byId('start-form').addEventListener('submit', (event) => {
    event.preventDefault();
    send();
  });
}

function fail(text) {
  const node = byId('start-error');
  node.textContent = text;
  node.hidden = text === '';
}

/** send asks the server. The token goes nowhere else and is not kept. */
async function send() {
  const button = byId('start-send');
  button.disabled = true;
  fail('');
  try {
    const answer = await fetch('../api/explorations', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${byId('start-token').value}` },
      body: JSON.stringify({ reason: byId('start-reason').value }),
    });
    if (!answer.ok) {
      fail(await explain(answer));
      return;
    }
    byId('start-token').value = '';
    byId('start').disabled = true; // until the next figures say what became of it
    byId('start-dialog').close();
  } catch (error) {
    fail(`The process does not answer: ${error.message}`);
  } finally {
    button.disabled = false;
  }
}

async function explain(answer) {
  try {
    return (await answer.json()).error;
  } catch {
    return `The process answers ${answer.status} ${answer.statusText}.`;
  }
}
