// The table of the classes, and the panel of the class in focus.

function startClasses() {
  const all = REPORT.labels.map((_, k) => k);
  const table = makeTable(classColumns(REPORT.classes), {
    caption: "Scores of the classes",
    rows: all,
    most: 12,
    sort: { column: 2, descending: false },
    chosen: (k) => Focus.class === k,
    empty: "No class has a name like that.",
  });
  fill("classes-table", table.element);
  const search = byId("classes-search");
  const find = () => {
    const words = search.value.trim().toLowerCase();
    const rows = all.filter((k) => label(k).toLowerCase().includes(words));
    byId("classes-count").textContent = words
      ? `${plural(rows.length, "class", "classes")} of ${count(K)}`
      : plural(K, "class", "classes");
    table.show(rows);
  };
  search.oninput = find;
  find();
  byId("class-select").replaceChildren(...classOptions());
  byId("class-select").onchange = () => showClass(Number(byId("class-select").value), false);
  Focus.on("class", (k) => {
    byId("class-select").value = k;
    table.refresh();
    showFacts(k);
  });
}

function classColumns({ support, recall, recall_interval, precision, precision_interval, f1, takenFor, takenTimes }) {
  const taken = (k) => {
    const other = takenFor[k];
    if (other === null) return MISSING;
    const said = `Show ${label(k)} taken for ${label(other)}`;
    return linkButton(`${nameOf(other)} (${takenTimes[k]})`, () => showPair(k, other), { "aria-label": said });
  };
  const link = (k) => linkButton(nameOf(k), () => showClass(k));
  const column = (title, cell, key, more = { number: true }) => ({ title, cell, key, ...more });
  return [
    column("Class", link, label, { header: true }),
    column(
      "Rows",
      (k) => count(support[k]),
      (k) => support[k],
    ),
    column(
      "Recall",
      (k) => meter(recall[k], recall_interval[k]),
      (k) => recall[k],
    ),
    column(
      "Precision",
      (k) => meter(precision[k], precision_interval[k]),
      (k) => precision[k],
    ),
    column(
      "F1",
      (k) => percent(f1[k]),
      (k) => f1[k],
      { number: true, wideOnly: true },
    ),
    column("Most often taken for", taken, (k) => takenTimes[k] || null, { below: true }),
  ];
}

/** What is known of the class in focus. */
function showFacts(k) {
  const { support, predicted, correct, recall, recall_interval, precision, precision_interval } = REPORT.classes;
  const { cells } = REPORT.confusion;
  byId("class-name").textContent = `Class “${label(k)}”`;
  const within = (share, [low, high], rows) =>
    rows ? `${percent(share)} (${percent(low, 0)} to ${percent(high, 0)})` : MISSING;
  const scores = [
    factLine("Rows", count(support[k])),
    factLine("Recognised", count(correct[k])),
    factLine("Recall", within(recall[k], recall_interval[k], support[k])),
    factLine("Precision", within(precision[k], precision_interval[k], predicted[k])),
  ];
  const from = cells.filter(([c]) => c === k).map(([c, other, times]) => errorFact(other, [c, other], times));
  const to = cells.filter(([, other]) => other === k).map(([c, other, times]) => errorFact(c, [c, other], times));
  const lists = [
    factList("Scores", scores),
    factList("Taken for", from.slice(0, 5), "Never taken for another class."),
    factList("Others taken for it", to.slice(0, 5), "No other class is taken for it."),
  ];
  keepFocus(byId("class-facts"), () => fill("class-facts", make("div", { className: "facts" }, lists)));
}

function factList(title, lines, none) {
  const body = lines.length ? make("ul", {}, lines) : make("p", { textContent: none });
  return make("div", {}, make("h4", { textContent: title }), body);
}

function factLine(title, value) {
  return make("li", {}, make("span", {}, title), make("span", { textContent: value }));
}

/** A class that is confused with the one in focus: a link to the pair, and how often. */
function errorFact(other, pair, times) {
  return factLine(
    linkButton(nameOf(other), () => showPair(...pair)),
    plural(times, "row"),
  );
}
