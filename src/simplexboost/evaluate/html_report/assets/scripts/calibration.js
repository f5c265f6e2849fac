// Calibration: a reliability diagram above a histogram of probabilities.

function startCalibration() {
  const found = REPORT.calibration;
  if (found === null) {
    hideSection("calibration");
    return;
  }
  byId("calibration-about").textContent =
    "Rows are grouped by the probability of the predicted class. If probabilities mean what they say, the points lie " +
    "on the diagonal: above it the model is not sure enough, below it too sure. " +
    `Vertical lines are 95${PERCENT} intervals.` +
    (found.few.includes(true) ? " Pale points stand for a few rows only." : "");
  byId("calibration-caption").textContent =
    `The mean distance from the diagonal, weighted by rows (expected calibration error), is ${percent(found.ece)}. ` +
    "The bars show how many rows have each probability, on a logarithmic scale.";
  const bins = found.count.map((rows, b) => ({
    rows,
    opacity: found.few[b] ? 0.35 : 1,
    low: found.low[b],
    high: found.high[b],
    predicted: found.predicted[b],
    observed: found.observed[b],
    interval: found.interval[b],
  }));
  const columns = [
    { title: "Probability", header: true, cell: ({ low, high }) => `${percent(low, 0)} to ${percent(high, 0)}` },
    { title: "Rows", number: true, cell: ({ rows }) => count(rows) },
    { title: "Mean probability", number: true, cell: ({ predicted }) => percent(predicted) },
    { title: "Right", number: true, cell: ({ observed }) => percent(observed) },
    {
      title: `95${PERCENT} interval`,
      number: true,
      cell: ({ interval }) => interval.map((end) => percent(end)).join(" to "),
    },
  ];
  fill("calibration-table", makeTable(columns, { caption: "Calibration by probability", rows: bins }).element);
  Charts.add("calibration-plot", {
    height: (width) => Math.min(Math.max(width * 0.72, 400), 520),
    label:
      `Reliability diagram: expected calibration error ${percent(found.ece)}. ` +
      `Mean probability ${percent(found.confidence)}, accuracy ${percent(found.accuracy)}.`,
    draw: (width) => drawCalibration(bins, width),
  });
}

function drawCalibration(bins, width) {
  const tallest = Math.log1p(Math.max(...bins.map(({ rows }) => rows)));
  const share = (value) => `${Math.round(100 * value)} %`;
  const whole = { type: "value", min: 0, max: 1 };
  const line = { lineStyle: { color: colour("strong-line") } };
  // Without "none" each of the two would shrink by its own labels, and they would not lie above each other.
  const grid = (place) => ({ left: 62, right: 26, outerBoundsMode: "none", ...place });
  const words = ({ low, high, rows, observed, predicted }) => [
    `${percent(low, 0)} to ${percent(high, 0)}`,
    `${plural(rows, "row")}, ${percent(observed)} right`,
    `mean probability ${percent(predicted)}`,
  ];
  return {
    grid: [grid({ top: 10, bottom: 136 }), grid({ height: 62, bottom: 44 })],
    tooltip: tooltip(({ data }) => data.payload && words(data.payload)),
    xAxis: [
      axis({ ...whole, gridIndex: 0, axisLabel: { show: false } }),
      axis({
        ...whole,
        gridIndex: 1,
        name: "probability of the predicted class",
        nameGap: 26,
        axisLabel: { formatter: share },
        axisLine: { show: true, ...line },
        splitLine: { show: false },
      }),
    ],
    yAxis: [
      axis({ ...whole, gridIndex: 0, name: "share that is right", nameGap: 42, axisLabel: { formatter: share } }),
      axis({
        type: "value",
        gridIndex: 1,
        min: 0,
        max: tallest,
        name: "rows",
        nameGap: 42,
        axisLabel: { show: false },
        splitLine: { show: false },
      }),
    ],
    series: [diagonal(), intervals(bins), shares(bins, tallest), histogram(bins, width)],
  };
}

function diagonal() {
  const lineStyle = { color: colour("strong-line"), type: [4, 4], width: 1.2 };
  return { type: "line", silent: true, symbol: "none", lineStyle, data: [0, 1].map((value) => [value, value]) };
}

function intervals(bins) {
  const renderItem = (_, api) => {
    const [x, top] = api.coord([api.value(0), api.value(2)]);
    const [, bottom] = api.coord([api.value(0), api.value(1)]);
    const style = { stroke: colour("accent"), lineWidth: 1.5, opacity: 0.6 * api.value(3) };
    return { type: "line", shape: { x1: x, x2: x, y1: top, y2: bottom }, style };
  };
  const data = bins.map(({ predicted, interval, opacity }) => [predicted, ...interval, opacity]);
  return { type: "custom", silent: true, renderItem, data };
}

function shares(bins, tallest) {
  return {
    type: "scatter",
    symbolSize: (_, { data }) => 7 + (9 * Math.log1p(data.payload.rows)) / tallest,
    itemStyle: { color: colour("accent") },
    data: bins.map((bin) => ({
      value: [bin.predicted, bin.observed],
      itemStyle: { opacity: bin.opacity },
      payload: bin,
    })),
  };
}

/** Bars with their numbers above; on a linear scale the last bin, which has most rows, would hide the others. */
function histogram(bins, width) {
  const text = (rows) => (width < 500 && rows >= 1000 ? `${Math.round(rows / 1000)}k` : count(rows));
  const renderItem = ({ dataIndex }, api) => {
    const { low, high, rows } = bins[dataIndex];
    const [left, top] = api.coord([low, Math.log1p(rows)]);
    const [right, bottom] = api.coord([high, 0]);
    return {
      type: "rect",
      shape: { x: left + 1, y: top, width: Math.max(right - left - 2, 1), height: bottom - top, r: [2, 2, 0, 0] },
      style: { fill: colour("grey"), opacity: 0.75 },
      textContent: { style: { text: text(rows), fill: colour("muted"), fontSize: 11 } },
      textConfig: { position: "top", distance: 3 },
    };
  };
  const data = bins.map((bin) => ({ value: [(bin.low + bin.high) / 2, Math.log1p(bin.rows)], payload: bin }));
  return { type: "custom", xAxisIndex: 1, yAxisIndex: 1, renderItem, data };
}
