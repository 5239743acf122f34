// The sections of the page: each can be folded, which the browser remembers; links to a section unfold it.

import { byId, el } from './dom.js';

// Open at first on a phone.
const first = new Set(['live-title']);
const keyOf = (title) => `eerf-folded/${title.id}`;

// Origin of figures, shown when the cursor rests on the mark.
const from = { here: 'measured by the process that serves this page', pipeline: 'read from the topics: the same for every process' };

export function sections() {
  const phone = window.matchMedia('(max-width: 640px)').matches;
  for (const panel of document.querySelectorAll('main .panel')) {
    const title = panel.querySelector('h2');
    const button = el('button', { type: 'button', class: 'fold', onclick: () => fold(panel, !panel.classList.contains('folded'), true) });
    button.append(...title.childNodes);
    title.append(button);
    fold(panel, (remembered(title) ?? (phone && !first.has(title.id) ? 'yes' : 'no')) === 'yes');
  }
  for (const [name, text] of Object.entries(from)) {
    for (const node of document.querySelectorAll(`.head .${name}, .chart-title .${name}`)) node.title = text;
  }
  document.addEventListener('click', (event) => {
    const link = event.target.closest('a[href^="#"]');
    const panel = link && byId(link.hash.slice(1))?.closest('.panel');
    if (panel) fold(panel, false, true);
  });
}

function remembered(title) {
  try {
    return localStorage.getItem(keyOf(title));
  } catch {
    return null;
  }
}

/** fold folds a panel to its head, or unfolds it. */
function fold(panel, folded, remember = false) {
  const title = panel.querySelector('h2');
  panel.classList.toggle('folded', folded);
  title.firstChild.setAttribute('aria-expanded', String(!folded));
  if (!remember) return;
  try {
    localStorage.setItem(keyOf(title), folded ? 'yes' : 'no');
  } catch { /* then it lasts until the page is left */ }
}
