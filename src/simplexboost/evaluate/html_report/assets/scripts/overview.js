// At a glance: the scores as tiles, and what to know first as sentences.

const SECTIONS = {
  classes: "Classes",
  confusion: "Confusions",
  calibration: "Calibration",
  importance: "Importance",
  doubts: "Doubtful labels",
};

function startOverview() {
  const classes = plural(K, "class", "classes");
  const features = plural(REPORT.features, "feature");
  byId("lede").textContent = `${classes} · ${features} · ${plural(REPORT.rows, "row")} evaluated`;
  byId("fitted").hidden = !REPORT.fitted;
  fill("tiles", REPORT.headline.map(tile));
  fill("sentences", REPORT.sentences.map(sentence));
}

function tile({ title, value, low, high, unit, about }) {
  const digits = [value, low, high].some((x) => x > 0.999 && x < 1) ? 2 : 1; // the same for all three
  const text = (x) => (unit === "share" ? percent(x, digits) : x.toPrecision(3));
  return make(
    "div",
    { className: "tile" },
    make("dt", { textContent: title }),
    make("dd", { className: "value", textContent: text(value) }),
    make("dd", { className: "range", textContent: `${text(low)} to ${text(high)}` }),
    make("dd", { className: "explained", textContent: about }),
  );
}

function sentence({ section, text }) {
  if (REPORT[section] === null) return make("li", { textContent: text }); // there is no such section
  const attributes = { "aria-label": `Go to ${SECTIONS[section]}` };
  const link = make("a", { href: `#${section}`, textContent: SECTIONS[section], attributes });
  return make("li", {}, `${text} `, link);
}
