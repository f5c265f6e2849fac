// What all sections use: the numbers of the report, elements, and numbers as text.

const REPORT = JSON.parse(document.getElementById("data").textContent);
const K = REPORT.labels.length;

const byId = (id) => document.getElementById(id);

/** An element; `options` sets properties, `children` are elements or text. Text never becomes markup. */
function make(tag, options = {}, ...children) {
  const { attributes = {}, ...properties } = options;
  const element = Object.assign(document.createElement(tag), properties);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** Put something in the place of all that an element holds. */
function fill(id, ...children) {
  byId(id).replaceChildren(...children.flat().filter(Boolean));
}

/** Draw part of the page anew; what had the focus in it gets it back, so that readers by keyboard stay there. */
function keepFocus(element, draw) {
  const key = (control) => control.getAttribute("aria-label") ?? control.textContent;
  const before = element.contains(document.activeElement) ? key(document.activeElement) : null;
  draw();
  if (before === null) return;
  const same = [...element.querySelectorAll("button")].find((control) => key(control) === before && control.checkVisibility());
  same?.focus({ preventScroll: true });
}

/** A button that looks like a link. */
function linkButton(text, onclick, attributes = {}) {
  return make("button", { type: "button", className: "link", onclick, attributes }, text);
}

const label = (k) => REPORT.labels[k];
const feature = (j) => REPORT.featureNames[j];

/** A long label cut to some characters, for axes. */
const short = (text, most = 14) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/** The label of a class for tables and sentences; the panel of the class and the lists of classes have all of it. */
const nameOf = (k) => short(label(k), 40);
const quoted = (k) => `“${nameOf(k)}”`;

const MISSING = "–";
const PERCENT = "\u00a0%"; // no line ends between a number and its sign

/** A share as a percentage; never 100 % or 0 % where that is not the whole truth. */
function percent(share, digits = 1) {
  if (share === null || share === undefined) return MISSING;
  if (share === 0 || share === 1) return `${100 * share}${PERCENT}`;
  const smallest = 10 ** -digits;
  return `${Math.min(100 - smallest, Math.max(smallest, 100 * share)).toFixed(digits)}${PERCENT}`;
}

/** A number to some significant digits, with a true minus sign. */
function number(value, digits = 3) {
  if (value === null || value === undefined) return MISSING;
  return String(Number(value.toPrecision(digits))).replace("-", "−");
}

/** A number with a fixed number of digits after the point, for columns. */
const fixed = (value, digits = 2) =>
  value === null || value === undefined ? MISSING : value.toFixed(digits).replace("-", "−");

const count = (value) => value.toLocaleString("en");
const plural = (n, word, several = `${word}s`) => `${count(n)} ${n === 1 ? word : several}`;

/** Whether the screen is that of a phone; the style sheet asks the same. */
const narrow = () => matchMedia("(max-width: 40rem)").matches;

/** A colour of the style sheet, as it is now. */
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** Functions to be called when something is chosen: the class in focus, or the pair of classes. */
const Focus = {
  class: null,
  pair: null,
  listeners: { class: [], pair: [] },

  on(what, listener) {
    Focus.listeners[what].push(listener);
  },

  set(what, value) {
    Focus[what] = value;
    for (const listener of Focus.listeners[what]) listener(value);
  },
};

/** Choose a class, and show its panel. */
function showClass(k, scroll = true) {
  Focus.set("class", k);
  if (scroll) byId("class-panel").scrollIntoView({ block: "nearest" });
}

/** Choose a pair of classes, and show its panel. */
function showPair(c, k, scroll = true) {
  Focus.set("pair", [c, k]);
  if (scroll) byId("pair-panel").scrollIntoView({ block: "nearest" });
}
