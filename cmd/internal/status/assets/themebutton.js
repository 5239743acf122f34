// The button that switches the theme.

import { byId, say } from './dom.js';

export function themeButton() {
  const button = byId('theme');
  const draw = () => say(button, window.eerfTheme.dark() ? '☀' : '☾');
  button.addEventListener('click', () => window.eerfTheme.toggle());
  window.addEventListener('themechange', draw);
  draw();
}
