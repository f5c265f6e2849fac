// The confusion explorer: how often each class is taken for another, and the ways to choose a pair of classes.

const Confusion = {
  few: 12, // classes up to which the whole matrix is a table
  shown: 7, // errors that are listed at first
  most: 200, // errors that are listed at all
  counts: new Map(REPORT.confusion.cells.map(([c, k, times]) => [`${c},${k}`, times])),
  place: [], // of every class in the order of the matrix

  /** How many rows of class c were taken for class k. */
  times: (c, k) => (c === k ? REPORT.classes.correct[c] : (Confusion.counts.get(`${c},${k}`) ?? 0)),

  start() {
    const { order, cells, errors, allCells } = REPORT.confusion;
    order.forEach((k, place) => (Confusion.place[k] = place));
    byId("confusion-about").textContent = errors
      ? `${plural(errors, "error")} in ${plural(allCells, "pair")} of classes. Choose a pair to see its examples and ` +
        "the features that decide between the two classes."
      : "No row was predicted wrong.";
    const whole = K <= Confusion.few;
    byId("explorer").classList.toggle("wide", !whole);
    byId("matrix-figure").hidden = whole;
    byId("near-title").textContent = whole ? "All classes" : "Classes nearby";
    if (!whole) Matrix.start();
    Confusion.startLists();
    Confusion.startErrors();
    Pair.start();
    Focus.on("pair", ([c, k]) => {
      drawNearby(c, k);
      Pair.show(c, k);
    });
    const [c, k] = cells[0] ?? [0, 1];
    showPair(c, k, false);
  },

  /** The two lists of classes, by which any pair can be chosen. */
  startLists() {
    const [first, second] = [byId("pair-true"), byId("pair-predicted")];
    first.replaceChildren(...classOptions());
    first.onchange = () => {
      const c = Number(first.value);
      showPair(c, REPORT.classes.takenFor[c] ?? (c === 0 ? 1 : 0), false);
    };
    second.onchange = () => showPair(Focus.pair[0], Number(second.value), false);
    const times = (c, k) => (c !== k && Confusion.times(c, k) ? ` (${Confusion.times(c, k)})` : "");
    Focus.on("pair", ([c, k]) => {
      first.value = c;
      second.replaceChildren(...classOptions((other) => times(c, other)));
      second.options[c].disabled = true;
      second.value = k;
    });
  },

  /** The list of the most frequent errors. */
  startErrors() {
    const { cells } = REPORT.confusion;
    if (cells.length === 0) {
      fill("pair-list", make("p", { className: "empty", textContent: "There are none." }));
      return;
    }
    const list = make("ol", { className: "pairs" });
    const more = make("button", { type: "button", className: "more", hidden: cells.length <= Confusion.shown });
    let all = false;
    const draw = () => {
      const some = cells.slice(0, all ? Confusion.most : Confusion.shown);
      keepFocus(list, () => list.replaceChildren(...some.map(Confusion.errorLine)));
      const rest = cells.length > Confusion.most ? `the first ${Confusion.most}` : `all ${count(cells.length)}`;
      more.textContent = all ? `Show the first ${Confusion.shown}` : `Show ${rest}`;
    };
    more.onclick = () => {
      all = !all;
      draw();
    };
    Focus.on("pair", draw);
    fill("pair-list", list, more);
  },

  errorLine([c, k, times]) {
    const chosen = Focus.pair?.[0] === c && Focus.pair?.[1] === k;
    const words = make("span", { textContent: `${nameOf(c)} taken for ${nameOf(k)}` });
    const share = `${count(times)} of ${count(REPORT.classes.support[c])}`;
    const options = { type: "button", onclick: () => showPair(c, k), attributes: { "aria-pressed": chosen } };
    return make("li", {}, make("button", options, words, make("span", { className: "times", textContent: share })));
  },
};
