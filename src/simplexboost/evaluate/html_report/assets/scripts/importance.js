// Importance of the features, for all classes and for the class in focus.

function importanceTable(id, entries, caption) {
  const columns = [
    { title: "Feature", header: true, cell: ([j]) => feature(j) },
    { title: "Importance", number: true, cell: ([, share]) => percent(share, 2) },
  ];
  fill(id, makeTable(columns, { caption, rows: entries }).element);
}

function startImportance() {
  const found = REPORT.importance;
  if (found === null) {
    hideSection("importance");
    return;
  }
  const summary = (entries) =>
    entries
      .slice(0, 5)
      .map(([j, share]) => `${feature(j)} ${percent(share)}`)
      .join(", ");
  const left = found.used - found.overall.length;
  byId("overall-title").textContent =
    left > 0 ? `For all classes: the first ${found.overall.length} of ${count(found.used)}` : "For all classes";
  Charts.add("overall-plot", {
    height: barsHeight(found.overall),
    label: `Importance for all classes: ${summary(found.overall)}.`,
    draw: (width) => featureBars(found.overall, width),
  });
  importanceTable("overall-table", found.overall, "Importance for all classes");
  byId("of-class").hidden = found.classes === null;
  if (found.classes === null) return;
  const select = byId("importance-select");
  select.replaceChildren(...classOptions());
  select.onchange = () => showClass(Number(select.value), false);
  const ofClass = () => found.classes[Focus.class] ?? [];
  Charts.add("of-class-plot", {
    height: () => barsHeight(ofClass()),
    label: () => `Importance for class ${label(Focus.class)}: ${summary(ofClass())}.`,
    draw: (width) => featureBars(ofClass(), width),
  });
  Focus.on("class", (k) => {
    select.value = k;
    byId("of-class-title").textContent = `For ${quoted(k)}`;
    importanceTable("of-class-table", ofClass(), `Importance for class ${label(k)}`);
    Charts.refresh("of-class-plot");
  });
}
