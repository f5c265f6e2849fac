// The start of the page: every section is filled once, in the order of reading.

function hideSection(id) {
  byId(id).hidden = true;
  document.querySelector(`.contents a[href="#${id}"]`).hidden = true;
}

function startTheme() {
  const button = byId("theme");
  const show = (name) => (button.textContent = name === "dark" ? "Light theme" : "Dark theme");
  button.onclick = Theme.toggle;
  Theme.listeners.push(show);
  show(Theme.current());
}

/** Mark the section that is being read in the list of sections. */
function startContents() {
  const links = new Map([...document.querySelectorAll(".contents a")].map((link) => [link.hash.slice(1), link]));
  const mark = (id) => {
    for (const [name, link] of links) {
      if (name === id) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  };
  const reader = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) if (isIntersecting) mark(target.id);
    },
    { rootMargin: "-20% 0px -75% 0px" },
  );
  for (const id of links.keys()) reader.observe(byId(id));
  mark("overview");
}

/** The class with the lowest recall, which is in focus at first. */
function hardestClass() {
  const { recall } = REPORT.classes;
  const known = REPORT.labels.map((_, k) => k).filter((k) => recall[k] !== null);
  return known.reduce((best, k) => (recall[k] < recall[best] ? k : best));
}

startTheme();
startContents();
startOverview();
startLearning();
startClasses();
Confusion.start();
startMap();
startImportance();
startCalibration();
startDoubts();
startCard();
showClass(hardestClass(), false);
