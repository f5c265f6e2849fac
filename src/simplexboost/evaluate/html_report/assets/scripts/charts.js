// Charts by Apache ECharts: drawn when they come into view, and again when the width or the theme changes.

const Charts = {
  all: new Map(),

  /**
   * A chart in the element with this id.
   * draw(width) → options of ECharts; `height` in pixels, or a function of the width; `label` is what the picture
   * says, for people who do not see it; `click` is given the payload of what was clicked.
   */
  add(id, { draw, height, label: text, click }) {
    const element = byId(id);
    element.setAttribute("role", "img");
    element.setAttribute("aria-label", typeof text === "function" ? text() : text);
    const chart = { element, draw, height, text, click, instance: null };
    Charts.all.set(id, chart);
    Charts.size(chart);
    Charts.seen.observe(element);
    Charts.sized.observe(element);
  },

  /** The element gets its height at once, so that the page does not jump when the chart is drawn. */
  size(chart) {
    const width = chart.element.clientWidth;
    const height = typeof chart.height === "function" ? chart.height(width) : chart.height;
    if (height) chart.element.style.height = `${height}px`;
  },

  render(chart) {
    if (chart.element.clientWidth === 0) return; // hidden: drawn when it comes into view
    Charts.size(chart);
    if (chart.instance === null) {
      chart.instance = echarts.init(chart.element, null, { renderer: "svg" });
      if (chart.click) chart.instance.on("click", (event) => chart.click(event.data?.payload));
    }
    chart.width = chart.element.clientWidth;
    chart.instance.resize();
    const options = {
      animation: false,
      textStyle: { fontFamily: getComputedStyle(document.body).fontFamily },
      ...chart.draw(chart.width),
    };
    chart.instance.setOption(options, { notMerge: true });
    if (typeof chart.text === "function") chart.element.setAttribute("aria-label", chart.text());
  },

  /** Draw a chart again, if it was drawn already. */
  refresh(id) {
    const chart = Charts.all.get(id);
    if (chart?.instance) Charts.render(chart);
  },

  /** Change a part of a chart, if it was drawn already. */
  merge(id, options) {
    Charts.all.get(id)?.instance?.setOption(options);
  },

  renderAll() {
    for (const chart of Charts.all.values()) Charts.render(chart);
  },

  seen: new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) {
        const chart = Charts.all.get(target.id);
        if (isIntersecting && chart.instance === null) Charts.render(chart);
      }
    },
    { rootMargin: "400px" },
  ),

  sized: new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const chart = Charts.all.get(target.id);
      if (chart.instance && chart.width !== target.clientWidth) Charts.render(chart);
    }
  }),
};

Theme.listeners.push(() => {
  for (const id of Charts.all.keys()) Charts.refresh(id);
});
addEventListener("beforeprint", Charts.renderAll);

/** An axis in the colours of the page. */
function axis(options) {
  const text = { color: colour("muted"), fontSize: 12 };
  return {
    axisLine: { show: false, lineStyle: { color: colour("strong-line") } },
    axisTick: { show: false },
    splitLine: { lineStyle: { color: colour("line") } },
    nameTextStyle: text,
    nameLocation: "middle",
    ...options,
    axisLabel: { ...text, ...options.axisLabel },
  };
}

/** A vertical line at a value of the horizontal axis. */
function markLine(value, lineStyle) {
  return { silent: true, symbol: "none", label: { show: false }, lineStyle, data: [{ xAxis: value }] };
}

/** A tooltip whose content is an element, so that labels are never read as markup. */
function tooltip(content, options = {}) {
  return {
    confine: true,
    backgroundColor: colour("surface"),
    borderColor: colour("strong-line"),
    borderWidth: 1,
    padding: [6, 10],
    textStyle: { color: colour("text"), fontSize: 13 },
    formatter: (event) => {
      const [title, ...lines] = content(event) ?? [];
      if (title === undefined) return "";
      const rest = lines.map((line) => make("div", { textContent: line }));
      return make("div", { className: "tip" }, make("strong", { textContent: title }), rest);
    },
    ...options,
  };
}

const SVG = "http://www.w3.org/2000/svg";

/** A sample for a legend: a line with a pattern of dashes, or a symbol. */
function sample({ colour: name, dash, symbol }) {
  const svg = document.createElementNS(SVG, "svg");
  const shapes = {
    line: ["line", { x1: 0, y1: 6, x2: 24, y2: 6, "stroke-width": 2.5, "stroke-dasharray": dash ?? "none" }],
    circle: ["circle", { cx: 12, cy: 6, r: 5 }],
    diamond: ["path", { d: "M12 0 L18 6 L12 12 L6 6 Z" }],
    triangle: ["path", { d: "M12 0 L18 11 L6 11 Z" }],
  };
  const [tag, attributes] = shapes[symbol ?? "line"];
  const shape = document.createElementNS(SVG, tag);
  const set = (element, values) => Object.entries(values).forEach(([key, value]) => element.setAttribute(key, value));
  set(shape, { ...attributes, style: `stroke: var(--${name}); fill: var(--${name})` });
  set(svg, { width: 24, height: 12, viewBox: "0 0 24 12", "aria-hidden": "true" });
  svg.append(shape);
  return svg;
}

/** The items of a legend. */
const legend = (items) => items.map((item) => make("li", {}, sample(item), make("span", { textContent: item.title })));

/** Horizontal bars of features, the largest at the top: entries are [feature, share]. */
function featureBars(entries, width) {
  const most = width < 420 ? 18 : 24;
  return {
    grid: { left: 4, right: 52, top: 4, bottom: 4, containLabel: true },
    tooltip: tooltip(({ data }) => [feature(data.payload), percent(data.value)]),
    xAxis: axis({ type: "value", show: false, max: entries.length ? entries[0][1] : 1 }),
    yAxis: axis({
      type: "category",
      inverse: true,
      data: entries.map(([j]) => feature(j)),
      axisLabel: { color: colour("text"), formatter: (text) => short(text, most), interval: 0 },
    }),
    series: [
      {
        type: "bar",
        barWidth: "62%",
        itemStyle: { color: colour("accent"), borderRadius: [0, 3, 3, 0] },
        label: {
          show: true,
          position: "right",
          color: colour("muted"),
          fontSize: 12,
          formatter: ({ value }) => percent(value),
        },
        data: entries.map(([j, share]) => ({ value: share, payload: j })),
      },
    ],
  };
}

const barsHeight = (entries) => 24 * Math.max(entries.length, 1) + 12;
