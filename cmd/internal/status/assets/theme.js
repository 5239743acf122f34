// Applies the theme chosen on this machine before anything is drawn. Without a choice the system's theme applies.
(() => {
  'use strict';
  const key = 'eerf-theme';
  let chosen = null;
  try { chosen = localStorage.getItem(key); } catch { /* storage may be forbidden: then a choice lasts as long as the page */ }
  const root = document.documentElement;
  if (chosen === 'light' || chosen === 'dark') root.dataset.theme = chosen;
  const system = window.matchMedia('(prefers-color-scheme: dark)');
  const changed = () => window.dispatchEvent(new Event('themechange'));
  system.addEventListener('change', changed);

  window.eerfTheme = {
    dark: () => (root.dataset.theme ? root.dataset.theme === 'dark' : system.matches),
    toggle() {
      const next = this.dark() ? 'light' : 'dark';
      // The system's own theme needs no stored choice.
      if ((next === 'dark') === system.matches) delete root.dataset.theme;
      else root.dataset.theme = next;
      try {
        if (root.dataset.theme) localStorage.setItem(key, next);
        else localStorage.removeItem(key);
      } catch { /* as above */ }
      changed();
    },
  };
})();
