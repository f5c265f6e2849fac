// Rows with doubtful labels.

const ORIGINS = {
  folds: "Each row was judged by a model that was fitted without it.",
  margins:
    "The margins are those of this model, so that this finds wrong labels among rows that the fit has not seen. Of " +
    "rows it was fitted to it may have learned wrong labels by heart.",
};

function startDoubts() {
  const { how, rows, all } = REPORT.doubts;
  const cut = all > rows.length ? ` These are the first ${count(rows.length)} of ${count(all)}.` : "";
  const numbered = REPORT.firstRow === null ? "" : ` Rows are numbered from ${REPORT.firstRow}.`;
  byId("doubts-about").textContent =
    "Rows whose label has a lower score than another class, the lowest first. Each of them is an error of the label " +
    "or of the model, and the model cannot tell which: look at the first ones yourself. " +
    `${ORIGINS[how]}${cut}${numbered}`;
  const column = (title, key, text, more = {}) => ({ title, key, cell: (entry) => text(key(entry)), ...more });
  const columns = [
    column("Row", ({ row }) => row, String, { header: true }),
    { title: "Label", key: (entry) => label(entry.label), cell: (entry) => nameOf(entry.label) },
    { title: "The model prefers", key: (entry) => label(entry.suggested), cell: preferredLink },
    column("Margin", ({ margin }) => margin, fixed, { number: true }),
  ];
  if (how === "margins" && REPORT.calibration !== null) {
    columns.push(column("p(label)", ({ ofLabel }) => ofLabel, percent, { number: true }));
    columns.push(column("p(preferred)", ({ ofSuggested }) => ofSuggested, percent, { number: true }));
  }
  const sort = { column: 3, descending: false };
  const empty = "The model agrees with all labels.";
  fill(
    "doubts-table",
    makeTable(columns, { caption: "Rows with doubtful labels", rows, most: 10, sort, empty }).element,
  );
}

function preferredLink({ label: given, suggested }) {
  const said = `Show ${label(given)} taken for ${label(suggested)}`;
  return linkButton(nameOf(suggested), () => showPair(given, suggested), { "aria-label": said });
}
