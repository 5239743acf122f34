// Small helpers to build and update the page. Text is only ever inserted as text.

/** el makes an element; props are attributes, class as 'class', and listeners as functions under 'on…'. */
export function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

export const byId = (id) => document.getElementById(id);

/** say sets the text of a node if it differs, so that selections in it survive. */
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** mark sets the class of a node if it differs. */
export function mark(node, classes) {
  if (node.className !== classes) node.className = classes;
}

/** hint sets the title of a node. */
export function hint(node, text) {
  if (node.title !== text) node.title = text;
}

/** meter sets how full a bar is, from 0 to 1. */
export function meter(node, share) {
  node.style.setProperty('--share', String(Math.max(0, Math.min(1, share))));
}

/** keyed makes the children of a node match a list: make builds a node for a new key, update fills it in. */
export function keyed(parent, list, keyOf, make, update) {
  const have = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  let at = parent.firstElementChild;
  for (const item of list) {
    const key = String(keyOf(item));
    let node = have.get(key);
    if (node) have.delete(key);
    else {
      node = make(item);
      node.dataset.key = key;
    }
    if (node === at) at = at.nextElementSibling;
    else parent.insertBefore(node, at);
    update(node, item);
  }
  for (const gone of have.values()) gone.remove();
}

/** cells updates the cells of a row; an entry is a text, or an object with text, class and title. */
export function cells(row, values) {
  values.forEach((value, i) => {
    const cell = row.cells[i];
    const v = typeof value === 'string' ? { text: value } : value;
    if (v.text !== undefined) say(cell, v.text);
    if (v.class !== undefined) mark(cell, v.class);
    if (v.title !== undefined) hint(cell, v.title);
  });
}

/** row makes a row with a labelled cell for each column, for tables that become cards on a phone. */
export function row(labels) {
  return el('tr', {}, ...labels.map((label) => el('td', { 'data-label': label })));
}
