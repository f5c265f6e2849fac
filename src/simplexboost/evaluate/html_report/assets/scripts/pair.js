// What is known of one pair of classes: how often it is confused, the features that decide, and examples.

const Pair = {
  examples: new Map(REPORT.confusion.pairs.map((pair) => [`${pair.true},${pair.predicted}`, pair])),
  explained: new Map(REPORT.deciding.map((entry) => [`${entry.a},${entry.b}`, entry])),
  deciding: null, // what the chart shows

  start() {
    Charts.add("deciding-plot", {
      height: () => 30 * (Pair.deciding?.names.length ?? 8) + 56,
      label: () => `Features that decide: ${Pair.deciding?.names.join(", ")}; the table below has the numbers.`,
      draw: (width) => Pair.draw(Pair.deciding, width),
    });
  },

  show(c, k) {
    byId("pair-title").textContent = `${quoted(c)} taken for ${quoted(k)}`;
    Pair.showFacts(c, k);
    Pair.showDeciding(c, k);
    Pair.showExamples(c, k);
  },

  showFacts(c, k) {
    const [times, back, support] = [Confusion.times(c, k), Confusion.times(k, c), REPORT.classes.support[c]];
    const told = times
      ? `${plural(times, "row")} of ${count(support)} (${percent(times / support)})`
      : `0 of ${plural(support, "row")}`;
    const reverse = `The reverse, ${quoted(k)} taken for ${quoted(c)}: ${back ? plural(back, "row") : "never"}. `;
    const turn = back ? linkButton("Show the reverse", () => showPair(k, c, false)) : null;
    keepFocus(byId("pair-facts"), () => fill("pair-facts", make("p", {}, `${told}. ${reverse}`, turn)));
  },

  // ---- features that decide ----

  /**
   * The features that decide between two classes: their names, and for the groups of rows that exist their title,
   * mark, and values, which are positive where they speak for class c. Null if the pair was not explained.
   */
  find(c, k) {
    const own = Pair.explained.get(`${c},${k}`);
    const entry = own ?? Pair.explained.get(`${k},${c}`); // both directions are explained together
    if (!entry) return null;
    const names = own ? ["rightA", "aForB", "rightB"] : ["rightB", "bForA", "rightA"];
    const groups = [
      { title: `${nameOf(c)}, recognised`, symbol: "circle", colour: "accent", size: 12 },
      { title: `${nameOf(c)} taken for ${nameOf(k)}`, symbol: "diamond", colour: "warm", size: 14 },
      { title: `${nameOf(k)}, recognised`, symbol: "triangle", colour: "grey", size: 14 },
    ].map((group, g) => ({ ...group, values: entry.means[names[g]], typical: entry.typical[names[g]] }));
    const known = groups.filter(({ values }) => values);
    const turned = known.map((group) => ({ ...group, values: group.values.map((value) => (own ? value : -value)) }));
    return { c, k, names: entry.features.map(feature), groups: turned };
  },

  showDeciding(c, k) {
    const found = Pair.find(c, k);
    byId("pair-deciding").hidden = found === null;
    if (found === null) return;
    Pair.deciding = found;
    byId("deciding-about").textContent =
      `How much a feature speaks for ${quoted(c)} (right) or for ${quoted(k)} (left), as log-odds: means over up to ` +
      "20 rows of each kind. A diamond on the left is a feature that misled the model.";
    fill("deciding-legend", legend(found.groups));
    Charts.refresh("deciding-plot");
    const columns = [
      { title: "Feature", header: true, cell: (i) => found.names[i] },
      ...found.groups.flatMap(({ title, values, typical }) => [
        { title: `${title}: log-odds`, number: true, cell: (i) => fixed(values[i]) },
        { title: "typical value", number: true, cell: (i) => typical[i] },
      ]),
    ];
    const options = { caption: "Features that decide between the two classes", rows: found.names.map((_, i) => i) };
    fill("deciding-table", makeTable(columns, options).element);
  },

  draw({ c, k, names, groups }, width) {
    const zero = { color: colour("strong-line"), type: "solid", width: 1 };
    const most = width < 420 ? 14 : 24;
    return {
      grid: { left: 4, right: 16, top: 8, bottom: 40, containLabel: true },
      tooltip: tooltip(({ data, seriesName }) => [names[data.value[1]], `${seriesName}: ${fixed(data.value[0])}`]),
      xAxis: axis({
        type: "value",
        name: `← ${short(label(k), 16)}      log-odds      ${short(label(c), 16)} →`,
        nameGap: 26,
        axisLabel: { formatter: (value) => number(value) },
      }),
      yAxis: axis({
        type: "category",
        inverse: true,
        data: names,
        splitLine: { show: true, lineStyle: { color: colour("line") } },
        axisLabel: { color: colour("text"), interval: 0, formatter: (text) => short(text, most) },
      }),
      series: groups.map(({ title, symbol, size, colour: hue, values }, g) => ({
        type: "scatter",
        name: title,
        symbol,
        symbolSize: size,
        z: symbol === "diamond" ? 5 : 3,
        itemStyle: { color: colour(hue), opacity: 0.92 },
        data: values.map((value, i) => ({ value: [value, i] })),
        markLine: g === 0 ? markLine(0, zero) : undefined,
      })),
    };
  },

  // ---- examples ----

  showExamples(c, k) {
    const pair = Pair.examples.get(`${c},${k}`);
    byId("pair-examples").hidden = !pair;
    if (!pair) return;
    const column = (title, values, text) => ({
      title,
      number: true,
      cell: (i) => text(values[i]),
      key: (i) => values[i],
    });
    const columns = [
      { title: "Row", header: true, cell: (i) => String(pair.rows[i]), key: (i) => pair.rows[i] },
      column("Margin", pair.margins, fixed),
    ];
    if (pair.ofTrue[0] !== null) {
      columns.push(column(`p(${short(label(c), 12)})`, pair.ofTrue, percent));
      columns.push(column(`p(${short(label(k), 12)})`, pair.ofPredicted, percent));
    }
    const options = { caption: "Examples of this error, the surest first", rows: pair.rows.map((_, i) => i) };
    if (pair.reasons) {
      const reasons = (i) => make("span", { className: "reasons" }, pair.reasons[i].map(reasonMark));
      if (narrow())
        options.detail = reasons; // on a phone there is no room beside the numbers
      else columns.push({ title: `What spoke for ${short(label(k), 16)}`, cell: reasons });
    }
    fill("examples-table", makeTable(columns, options).element);
  },
};

/** A feature that spoke for the wrong class: its value, and the log-odds. */
function reasonMark([j, value, odds]) {
  return make("span", {}, `${feature(j)} = ${value} `, make("b", { textContent: `+${fixed(odds)}` }));
}
