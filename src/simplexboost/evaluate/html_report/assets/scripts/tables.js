// Tables that can be sorted and cut.

/**
 * A table.
 * columns: {title, cell(row) → text or element, number, key(row) → value to sort by, header, wideOnly, below}
 * A column that is wideOnly has no place on a phone; one that is below has a line of its own there, below the row.
 * options: caption (read by screen readers), rows, most (shown at first), sort: {column, descending}, chosen(row),
 * empty (what is said without rows), detail(row) → element for a line of its own below the row
 * Returns {element, show(rows), refresh()}.
 */
function makeTable(columns, options) {
  const state = { rows: options.rows, sort: options.sort ?? null, all: false };
  const head = make("tr");
  const body = make("tbody");
  const more = make("button", { type: "button", className: "more" });
  const table = make("table", { attributes: { "aria-label": options.caption } }, make("thead", {}, head), body);
  const scroll = scrolling(table, options.caption);
  const empty = make("p", { className: "empty", textContent: options.empty ?? "There is nothing to show." });
  const element = make("div", {}, scroll, empty, more);

  const look = (column) => `${column.number ? "number" : ""} ${column.wideOnly || column.below ? "wide-only" : ""}`.trim();

  const cells = columns.map((column, place) => {
    const cell = make("th", { scope: "col", className: look(column) });
    if (column.key) {
      cell.append(
        make("button", { type: "button", className: "sort", textContent: column.title, onclick: () => sortBy(place) }),
      );
    } else {
      cell.textContent = column.title;
    }
    head.append(cell);
    return cell;
  });

  function sortBy(place) {
    const again = state.sort?.column === place;
    state.sort = { column: place, descending: again ? !state.sort.descending : Boolean(columns[place].number) };
    refresh();
  }

  function sorted() {
    if (state.sort === null) return state.rows;
    const { column, descending } = state.sort;
    const { key } = columns[column];
    return state.rows
      .map((row, i) => [key(row), i, row])
      .sort(([a, i], [b, j]) => {
        if (a === null || b === null) return (a === null) - (b === null) || i - j; // what is missing comes last
        const order = typeof a === "number" ? a - b : a.localeCompare(b, "en", { numeric: true });
        return (descending ? -order : order) || i - j;
      })
      .map(([, , row]) => row);
  }

  function refresh() {
    const rows = sorted();
    const most = options.most ?? Infinity;
    const shown = state.all ? rows : rows.slice(0, most);
    keepFocus(body, () => body.replaceChildren(...shown.flatMap(makeRow)));
    cells.forEach((cell, place) => {
      cell.removeAttribute("aria-sort");
      if (state.sort?.column === place) {
        cell.setAttribute("aria-sort", state.sort.descending ? "descending" : "ascending");
      }
    });
    scroll.hidden = rows.length === 0;
    empty.hidden = rows.length > 0;
    more.hidden = rows.length <= most;
    more.textContent = state.all ? `Show the first ${count(most)}` : `Show all ${count(rows.length)}`;
  }

  function makeRow(row) {
    const line = make("tr", { className: options.chosen?.(row) ? "chosen" : "" });
    for (const column of columns) {
      const cell = make(column.header ? "th" : "td", { className: look(column) }, column.cell(row));
      if (column.header) cell.scope = "row";
      line.append(cell);
    }
    const detail = options.detail?.(row);
    if (detail) return under(line, "detail", detail);
    const below = columns.find((column) => column.below);
    const content = below?.cell(row) ?? MISSING;
    return content === MISSING ? [line] : under(line, "detail narrow-only", [`${below.title}: `, content]);
  }

  /** A row, and a line below it as wide as the table. */
  function under(line, className, content) {
    const chosen = line.classList.contains("chosen") ? " chosen" : "";
    line.classList.add(className === "detail" ? "with-detail" : "with-narrow-detail");
    return [line, make("tr", { className: className + chosen }, make("td", { colSpan: columns.length }, content))];
  }

  more.onclick = () => {
    state.all = !state.all;
    refresh();
  };
  refresh();
  return {
    element,
    refresh,
    show(rows) {
      state.rows = rows;
      refresh();
    },
  };
}

/** An element that scrolls sideways where there is no room for it, also by keyboard. */
function scrolling(element, title) {
  const attributes = { tabindex: 0, role: "group", "aria-label": title };
  return make("div", { className: "scroll", attributes }, element);
}

/** A share with a bar, and the interval as a shade. */
function meter(share, interval) {
  if (share === null) return MISSING;
  const bar = make(
    "span",
    { className: "bar", attributes: { "aria-hidden": "true" } },
    make("i", { style: `width: ${100 * share}%` }),
  );
  if (interval) {
    const [low, high] = interval;
    bar.append(make("b", { style: `left: ${100 * low}%; width: ${100 * (high - low)}%` }));
    bar.title = `95 % interval ${percent(low)} to ${percent(high)}`;
  }
  return make("span", { className: "meter" }, bar, make("span", { textContent: percent(share) }));
}

/** Options of a select element, one per class. */
function classOptions(mark = () => "") {
  return REPORT.labels.map((text, k) => make("option", { value: k, textContent: `${text}${mark(k)}` }));
}
