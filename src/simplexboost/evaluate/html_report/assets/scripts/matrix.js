// The matrix of all classes as a chart, and that of a few classes as a table of buttons.

const Matrix = {
  largest: 600, // pixels
  named: K <= 40, // whether there is room for labels

  start() {
    const { cells, allCells, errors } = REPORT.confusion;
    const left = allCells > cells.length ? ` Only the ${count(cells.length)} most frequent pairs are drawn.` : "";
    byId("matrix-caption").textContent =
      "A row is a true class, a column a predicted one. Similar classes are neighbours. Only errors are drawn: " +
      `the stronger the colour, the more rows. Click a cell.${left}`;
    Charts.add("matrix-plot", {
      height: (width) => Math.min(width, Matrix.largest),
      label: `Confusion matrix of ${K} classes with ${plural(errors, "error")}, which are listed beside it.`,
      click: (payload) => payload && showPair(...payload),
      draw: Matrix.draw,
    });
    // Thousands of cells are not drawn anew when another one is chosen.
    Focus.on("pair", () => Charts.merge("matrix-plot", { series: [{ id: "chosen", data: Matrix.chosen() }] }));
  },

  at: (c, k) => [Confusion.place[k], Confusion.place[c]],
  chosen: () => (Focus.pair ? [Matrix.at(...Focus.pair)] : []),

  draw(width) {
    const edge = (Math.min(width, Matrix.largest) - (Matrix.named ? 70 : 40)) / K; // of a cell
    const side = Math.max(edge - 1, 4);
    const names = REPORT.confusion.order.map(label);
    const grid = { show: Matrix.named, lineStyle: { color: colour("line") } };
    const category = { type: "category", data: names, splitLine: grid };
    const text = {
      show: Matrix.named,
      fontSize: edge > 15 ? 11 : 9,
      interval: 0,
      margin: 6,
      formatter: (name) => short(name, 7),
    };
    const turned = names.some((name) => name.length > 2) ? 90 : 0;
    const gap = Matrix.named ? 28 : 8;
    return {
      grid: { left: 28, right: 8, top: 8, bottom: 28, containLabel: Matrix.named },
      tooltip: tooltip(({ data }) => data.payload && Matrix.words(...data.payload)),
      xAxis: axis({ ...category, name: "predicted class", nameGap: gap, axisLabel: { ...text, rotate: turned } }),
      yAxis: axis({ ...category, inverse: true, name: "true class", nameGap: gap, axisLabel: text }),
      series: [Matrix.diagonal(), Matrix.errors(side), Matrix.frame(side)],
    };
  },

  words: (c, k) => [`${nameOf(c)} taken for ${nameOf(k)}`, plural(Confusion.times(c, k), "row")],

  diagonal() {
    const ends = [0, K - 1].map((place) => [place, place]);
    const lineStyle = { color: colour("strong-line"), width: 1, opacity: 0.6 };
    return { type: "line", silent: true, symbol: "none", lineStyle, data: ends };
  },

  errors(side) {
    const { cells } = REPORT.confusion;
    const most = Math.log(Math.max(...cells.map(([, , times]) => times), 2));
    const cell = ([c, k, times]) => ({
      value: Matrix.at(c, k),
      payload: [c, k],
      itemStyle: { opacity: 0.4 + (0.6 * Math.log(times)) / most },
    });
    const data = [...cells].reverse().map(cell); // the most frequent ones are drawn last, and so on top
    return { type: "scatter", symbol: "rect", symbolSize: side, itemStyle: { color: colour("warm") }, data };
  },

  frame(side) {
    const itemStyle = { color: "transparent", borderColor: colour("text"), borderWidth: 1.5 };
    const symbolSize = Math.max(side + 4, 12);
    return {
      id: "chosen",
      type: "scatter",
      silent: true,
      symbol: "rect",
      symbolSize,
      itemStyle,
      data: Matrix.chosen(),
    };
  },
};

/** The classes of a pair and those most often confused with them, in the order of the matrix. */
function nearbyClasses(c, k) {
  const { order, cells } = REPORT.confusion;
  if (K <= Confusion.few) return order;
  const most = innerWidth < 960 ? 7 : 9;
  const chosen = new Set([c, k]);
  for (const [a, b] of cells) {
    if (chosen.size >= most) break;
    if (a === c || a === k) chosen.add(b);
    else if (b === c || b === k) chosen.add(a);
  }
  for (let gap = 1; chosen.size < most; gap += 1) {
    for (const place of [Confusion.place[c] - gap, Confusion.place[c] + gap]) {
      if (chosen.size < most && order[place] !== undefined) chosen.add(order[place]);
    }
  }
  return [...chosen].sort((a, b) => Confusion.place[a] - Confusion.place[b]);
}

/** The matrix of these classes: cells are buttons that choose a pair, or a class on the diagonal. */
function drawNearby(c, k) {
  const chosen = nearbyClasses(c, k);
  const others = chosen.flatMap((a) => chosen.filter((b) => b !== a).map((b) => Confusion.times(a, b)));
  const most = Math.max(...others, 1);
  const cell = (a, b) => make("td", {}, a === b ? rightButton(a) : errorButton(a, b, most, a === c && b === k));
  const above = (b) =>
    make("th", { scope: "col", title: label(b) }, make("span", { textContent: short(label(b), 16) }));
  const beside = (a) => make("th", { scope: "row", title: label(a), textContent: short(label(a), 18) });
  const head = make("tr", {}, make("td"), chosen.map(above));
  const lines = chosen.map((a) => make("tr", {}, beside(a), ...chosen.map((b) => cell(a, b))));
  const upright = chosen.some((b) => label(b).length > 4); // longer names need turned columns
  const caption = "Confusion of some classes: a row is a true class, a column a predicted one";
  const options = { className: upright ? "cells upright" : "cells", attributes: { "aria-label": caption } };
  const table = make("table", options, make("thead", {}, head), make("tbody", {}, lines));
  keepFocus(byId("near-table"), () => fill("near-table", scrolling(table, "Confusion of some classes")));
}

function rightButton(a) {
  const times = Confusion.times(a, a);
  const said = `${label(a)}: ${plural(times, "row")} right; show the class`;
  const options = { type: "button", className: "right", textContent: count(times), onclick: () => showClass(a) };
  return make("button", { ...options, attributes: { "aria-label": said } });
}

function errorButton(a, b, most, pressed) {
  const times = Confusion.times(a, b);
  return make("button", {
    type: "button",
    className: times ? "error" : "none",
    textContent: times ? count(times) : "",
    style: `--much: ${Math.round(18 + (52 * times) / most)}%`,
    onclick: () => showPair(a, b, false),
    attributes: { "aria-pressed": pressed, "aria-label": `${label(a)} taken for ${label(b)}: ${plural(times, "row")}` },
  });
}
