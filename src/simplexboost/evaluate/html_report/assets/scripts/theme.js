// Runs in the head, so that the first thing painted has the right colours: the reader's choice, else the system's.
const Theme = {
  system: matchMedia("(prefers-color-scheme: dark)"),
  key: "simplexboost-report-theme",
  listeners: [],

  chosen() {
    try {
      return localStorage.getItem(Theme.key);
    } catch {
      return null; // a browser may forbid storage to pages from disk
    }
  },

  apply(name) {
    document.documentElement.dataset.theme = name;
    for (const listener of Theme.listeners) listener(name);
  },

  toggle() {
    const name = Theme.current() === "dark" ? "light" : "dark";
    try {
      localStorage.setItem(Theme.key, name);
    } catch {
      // then the choice holds until the page is closed
    }
    Theme.apply(name);
  },

  current() {
    return document.documentElement.dataset.theme;
  },

  fromSystem() {
    return Theme.system.matches ? "dark" : "light";
  },
};
Theme.apply(Theme.chosen() ?? Theme.fromSystem());
Theme.system.addEventListener("change", () => Theme.chosen() ?? Theme.apply(Theme.fromSystem()));
