// The map of the classes: similar classes are near each other, marks show how well they are recognised.

const MAP_GROUPS = [
  { title: "recall below 80 %", symbol: "diamond", colour: "warm", size: 13, low: 0, high: 0.8 },
  { title: "recall 80 to 95 %", symbol: "triangle", colour: "third", size: 12, low: 0.8, high: 0.95 },
  { title: "recall 95 % or more", symbol: "circle", colour: "accent", size: 10, low: 0.95, high: Infinity },
];
const MOST_LABELLED = 60; // classes up to which all have their names on the map
const HARDEST = 15; // classes that have them beyond

function startMap() {
  const found = REPORT.map;
  if (found === null) {
    hideSection("map");
    return;
  }
  const { recall } = REPORT.classes;
  const placed = REPORT.labels.map((_, k) => k).filter((k) => found.points[k]);
  const groups = MAP_GROUPS.map((group) => ({
    ...group,
    members: placed.filter((k) => recall[k] >= group.low && recall[k] < group.high),
  }));
  const named = [...placed].sort((a, b) => recall[a] - recall[b]).slice(0, K <= MOST_LABELLED ? K : HARDEST);
  byId("map-about").textContent =
    "Classes whose rows get similar scores lie near each other. Click a class to see it in the table.";
  const apart = found.explained < 0.9 ? ", so that some neighbours here are in truth apart" : "";
  const some =
    K > MOST_LABELLED ? " Names are shown for the classes with the lowest recall, as far as there is room." : "";
  byId("map-caption").textContent =
    `The two axes show ${percent(found.explained, 0)} of the differences between classes${apart}.${some}`;
  fill("map-legend", legend(groups.filter(({ members }) => members.length)));
  Charts.add("map-plot", {
    height: (width) => (K <= 12 ? 320 : Math.min(Math.max(width * 0.7, 320), 560)),
    label: `Map of ${K} classes: similar classes are near each other. The table of classes has their recalls.`,
    click: (k) => k !== undefined && showClass(k),
    draw: () => drawMap(groups, new Set(named)),
  });
  Focus.on("class", () => Charts.refresh("map-plot"));
}

function drawMap(groups, named) {
  const { recall, support } = REPORT.classes;
  const [across, up] = [mapRange(0), mapRange(1)];
  const bare = { type: "value", axisLabel: { show: false }, splitLine: { show: false } };
  const words = (k) => [nameOf(k), `recall ${percent(recall[k])}, ${plural(support[k], "row")}`];
  return {
    grid: { left: 12, right: 12, top: 12, bottom: 12 },
    tooltip: tooltip(({ data }) => words(data.payload)),
    xAxis: axis({ ...bare, ...across }),
    yAxis: axis({ ...bare, ...up }),
    series: groups.map(({ symbol, size, colour: hue, members }, g) => ({
      type: "scatter",
      z: 9 - g, // classes with errors lie above the others
      symbol,
      symbolSize: (_, { data }) => size + (data.payload === Focus.class ? 8 : K > 150 ? -2 : 0),
      itemStyle: { color: colour(hue), opacity: 0.85 },
      labelLayout: { hideOverlap: true },
      data: members.map((k) => mapPoint(k, named.has(k), (across.min + across.max) / 2)),
    })),
  };
}

/** The ends of an axis of the map, with some room. */
function mapRange(side) {
  const values = REPORT.map.points.filter(Boolean).map((point) => point[side]);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const room = 0.06 * (high - low || 1);
  return { min: low - room, max: high + room };
}

/** A class on the map. Its label points inwards, where there is room; an outline keeps it legible among points. */
function mapPoint(k, named, middle) {
  const point = REPORT.map.points[k];
  const chosen = k === Focus.class;
  return {
    value: point,
    payload: k,
    itemStyle: chosen ? { borderColor: colour("text"), borderWidth: 2, opacity: 1 } : {},
    label: {
      show: named || chosen,
      formatter: short(label(k), 16),
      position: point[0] > middle ? "left" : "right",
      distance: 4,
      color: colour("text"),
      textBorderColor: colour("surface"),
      textBorderWidth: 3,
      fontSize: 12,
      fontWeight: chosen ? "bold" : "normal",
    },
  };
}
