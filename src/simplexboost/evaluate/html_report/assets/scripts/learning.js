// Learning curves, one metric at a time.

const CURVES = {
  training: { colour: "grey", dash: "none", type: "solid", title: "rows of the fit" },
  "held out": { colour: "accent", dash: "7 3", type: "dashed", title: "rows held out for the choice" },
  "this report": { colour: "warm", dash: "none", type: "solid", title: "rows of this report" },
};
const OTHER_CURVE = { colour: "third", dash: "2 3", type: "dotted" };
const curveTitle = (name) => name.replace(/^evaluated/, "rows evaluated during the fit");

function startLearning() {
  const found = REPORT.learning;
  if (found === null) {
    hideSection("learning");
    return;
  }
  let current = found.metrics[0];
  const style = ({ name }) => ({ ...OTHER_CURVE, title: curveTitle(name), ...CURVES[name] });
  const buttons = found.metrics.map((entry) =>
    make("button", { type: "button", textContent: entry.title, onclick: () => show(entry) }),
  );
  fill("learning-metrics", buttons);
  byId("learning-metrics").hidden = buttons.length < 2;
  const some =
    found.rows < REPORT.rows ? ` The curve of this report’s rows is computed from ${count(found.rows)} of them.` : "";
  const chosen = found.chosen === null ? "" : ` The vertical line is round ${count(found.chosen)}, ${found.why}.`;
  // Risks that fall a hundredfold look like a corner on a linear scale.
  const logarithmic = ({ curves }) => {
    const values = curves.flatMap((curve) => curve.values);
    return Math.min(...values) > 0 && Math.max(...values) / Math.min(...values) > 20;
  };

  function show(entry) {
    current = entry;
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", found.metrics[i] === entry));
    fill("learning-legend", legend(entry.curves.map(style)));
    const scale = logarithmic(entry) ? " The vertical scale is logarithmic." : "";
    byId("learning-caption").textContent = `${plural(found.rounds, "round")}.${chosen}${some}${scale}`;
    const columns = [
      { title: "Curve", header: true, cell: (curve) => style(curve).title },
      { title: "First round", number: true, cell: (curve) => number(curve.values[0]) },
      // Which of the two is the best one depends on the metric.
      { title: "Lowest", number: true, cell: (curve) => number(Math.min(...curve.values)) },
      { title: "Highest", number: true, cell: (curve) => number(Math.max(...curve.values)) },
      { title: "Last round", number: true, cell: (curve) => number(curve.values.at(-1)) },
    ];
    fill("learning-table", makeTable(columns, { caption: `${entry.title} by curve`, rows: entry.curves }).element);
    Charts.refresh("learning-plot");
  }

  function words(curve) {
    const [first, last] = [curve.values[0], curve.values.at(-1)].map((value) => number(value));
    return `${style(curve).title}: ${first} after the first round, ${last} after the last`;
  }

  function draw() {
    const share = current.metric === "error";
    const text = (value) => (share ? percent(value) : number(value));
    const chosenLine = { color: colour("text"), type: [2, 3], width: 1.2 };
    return {
      grid: { left: 8, right: 20, top: 14, bottom: 34, containLabel: true },
      tooltip: tooltip(
        (events) => [
          `Round ${events[0].axisValueLabel ?? events[0].data[0]}`,
          ...events.map(({ seriesName, data }) => `${seriesName}: ${text(data[1])}`),
        ],
        { trigger: "axis", axisPointer: { type: "line", lineStyle: { color: colour("strong-line") } } },
      ),
      xAxis: axis({
        type: "value",
        name: "rounds",
        nameGap: 26,
        min: 0,
        minInterval: 1,
        max: Math.max(...current.curves.map(({ rounds }) => rounds.at(-1))),
        splitLine: { show: false },
        axisLine: { show: true, lineStyle: { color: colour("strong-line") } },
      }),
      yAxis: logarithmic(current)
        ? axis({ type: "log", axisLabel: { formatter: text } })
        : axis({ type: "value", axisLabel: { formatter: text } }),
      series: current.curves.map((curve, i) => ({
        type: "line",
        name: style(curve).title,
        showSymbol: false,
        color: colour(style(curve).colour),
        lineStyle: { width: 2.5, type: style(curve).type },
        data: curve.rounds.map((round, t) => [round, curve.values[t]]),
        markLine: i === 0 && found.chosen !== null ? markLine(found.chosen, chosenLine) : undefined,
      })),
    };
  }

  Charts.add("learning-plot", {
    height: (width) => (width < 500 ? 260 : 340),
    label: () => `${current.title} by rounds. ${current.curves.map(words).join("; ")}.`,
    draw,
  });
  show(current);
}
