"""The report page in a real browser: what a reader clicks, types and sees, and what axe-core finds."""

import json
from pathlib import Path

import numpy as np
import pytest
from browser import driven, prefer, set_screen
from report_cases import EVIL, Case, case, evil, noisy_blobs
from selenium.webdriver.support.ui import WebDriverWait

import simplexboost as sb

pytestmark = pytest.mark.browser

WIDTHS = [1440, 820, 390]


@pytest.fixture(scope="module")
def driver():
    """A browser, with no page yet."""
    with driven() as found:
        yield found


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Addresses of pages by name, written once."""
    folder = tmp_path_factory.mktemp("reports")
    X, c = noisy_blobs(4, 25)
    machine = sb.MulticlassSVC(random_state=0).fit(X, c)
    cases = {
        "two": case(2),
        "few": case(3),
        "letters": case(26),
        "dozen": case(12),
        "many": case(440, 8, 4),
        "evil": evil(),
        "plain": Case(machine, X, c),  # no rounds, no probabilities, no importances, nothing explained
        "chosen": Case(sb.SimplexBoostClassifier(random_state=0, learning_rate=0.3).fit(X, c), X, c),  # has candidates
        "empty": Case(sb.SimplexBoostClassifier(n_estimators=3).fit(np.ones_like(X), c), X, c),  # no rounds at all
        "right": Case(case(3).clf, case(3).X, case(3).clf.predict(case(3).X)),  # no errors
    }
    for name, found in cases.items():
        sb.report(found.clf, found.X, found.y, folder / f"{name}.html", title=EVIL[0] if name == "evil" else name)
    return {name: (folder / f"{name}.html").as_uri() for name in cases}


@pytest.fixture
def visit(driver, pages):
    """A function that opens a page from disk; at the end there must be nothing on the console."""

    def visit(name, width=1440, theme="light"):
        set_screen(driver, width)
        prefer(driver, theme)
        driver.get(pages[name])
        driver.execute_script("localStorage.clear()")
        return driver

    yield visit
    assert driver.get_log("browser") == []


def script(driver, text, *arguments):
    """What a script returns."""
    return driver.execute_script(text, *arguments)


def click(driver, selector, number=0):
    """Click an element as a person would: bring it into view, and press the mouse there."""
    element = driver.find_elements("css selector", selector)[number]
    script(driver, "arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
    element.click()


def choose(driver, selector, value):
    """Choose an entry of a list by its value, with the event that a browser sends."""
    change = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('change', {bubbles: true}))"
    script(driver, change, driver.find_element("css selector", selector), str(value))


def texts(driver, selector):
    """The texts of elements that are shown."""
    shown = "[...document.querySelectorAll(arguments[0])].filter(e => e.checkVisibility())"
    return [
        found.replace("\u00a0", " ")
        for found in script(driver, f"return {shown}.map(e => e.innerText.trim())", selector)
    ]


def text(driver, selector):
    """The text of an element."""
    return texts(driver, selector)[0]


def report_of(driver):
    """The numbers in the page."""
    return json.loads(script(driver, "return document.getElementById('data').textContent"))


def unquoted(title):
    """A title without its quotation marks."""
    return title.replace("“", "").replace("”", "")


def title_of(told, c, k):
    """What the panel of a pair of classes is called."""
    return f"“{told['labels'][c]}” taken for “{told['labels'][k]}”"


# ---- every page -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["two", "few", "letters", "many", "evil", "plain", "empty", "right"])
def test_page_opens_and_fits(visit, name, width):
    """All charts are drawn; nothing is wider than the screen; there is no error on the console."""
    driver = visit(name, width)
    script(driver, "Charts.renderAll()")
    assert script(driver, "return document.documentElement.scrollWidth") <= width
    # What lies beyond the edge must be within an area that scrolls by itself.
    beyond = """
      const outside = (e) => e.getBoundingClientRect().right > innerWidth + 1;
      const held = (e) => e.closest('.scroll, .contents, .plot, .skip, details');
      const all = [...document.querySelectorAll('main *')];
      return all.filter(e => outside(e) && !held(e)).map(e => e.outerHTML.slice(0, 80));
    """
    assert script(driver, beyond) == []
    shown = "return [...document.querySelectorAll('.plot')].filter(e => e.checkVisibility())"
    plots = script(driver, shown + ".map(e => [e.id, e.querySelectorAll('svg path, svg rect').length])")
    assert len(plots) >= 1
    assert all(shapes > 2 for _, shapes in plots), plots


@pytest.mark.parametrize(
    "page", ["few light", "few dark", "letters light", "letters dark", "many dark", "chosen light"]
)
def test_no_accessibility_violations(visit, page):
    name, theme = page.split()
    driver = visit(name, 820, theme)
    script(driver, "Charts.renderAll(); for (const e of document.querySelectorAll('details')) e.open = true")
    script(driver, (Path(__file__).parent / "axe" / "axe.min.js").read_text(encoding="utf-8"))
    found = driver.execute_async_script("const done = arguments[arguments.length - 1]; axe.run().then(done)")
    broken = [(entry["id"], [node["html"][:120] for node in entry["nodes"]]) for entry in found["violations"]]
    assert broken == []
    assert len(found["passes"]) > 20


def test_nothing_of_the_user_is_markup(visit):
    driver = visit("evil")
    script(driver, "Charts.renderAll()")
    assert driver.title == f"{EVIL[0]} · model report"
    assert text(driver, "h1") == EVIL[0]
    shown = set(script(driver, "return [...document.querySelectorAll('#class-select option')].map(e => e.textContent)"))
    assert shown == set(EVIL)
    foreign = "main b:not(.bar b, .reasons b), main u, main i:not(.bar i)"
    assert script(driver, "return document.querySelectorAll(arguments[0]).length", foreign) == 0
    assert script(driver, "return document.scripts.length") == 4


# ---- what a reader does ---------------------------------------------------------------------------------------------


def test_headline(visit):
    driver = visit("letters")
    accuracy = case(26).clf.score(case(26).X, case(26).y)
    assert texts(driver, "#tiles dt") == ["Accuracy", "Balanced accuracy", "Top-5 accuracy", "Log-loss"]
    assert texts(driver, "#tiles .value")[0] == f"{100 * accuracy:.1f} %"
    assert text(driver, "#lede") == "26 classes · 6 features · 520 rows evaluated"
    assert script(driver, "return document.getElementById('fitted').hidden")


def test_sorting_the_classes(visit):
    driver = visit("letters")
    support = report_of(driver)["classes"]

    def column(place):
        return [float(cell.split()[0]) for cell in texts(driver, f"#classes-table tbody tr > :nth-child({place})")]

    assert column(3) == sorted(column(3))  # the lowest recall first
    assert len(column(3)) == 12
    click(driver, "#classes-table .more")
    assert len(column(3)) == 26
    click(driver, "#classes-table .sort", 3)
    assert column(4) == sorted(column(4), reverse=True)  # numbers begin with the largest
    assert texts(driver, "#classes-table th[aria-sort]") == ["Precision"]
    click(driver, "#classes-table .sort", 0)
    names = texts(driver, "#classes-table tbody th")
    assert names == sorted(names, key=lambda name: int(name.split()[1]))  # class 9 before class 10
    assert len(support["recall"]) == 26


@pytest.mark.parametrize("name", ["few", "letters", "many", "evil"])
def test_a_phone_shows_the_whole_table_of_the_classes(visit, name):
    """Nothing is cut: what a class is taken for has a line of its own, which leads to the pair."""
    driver = visit(name, 390)
    told = report_of(driver)
    wide = "const area = document.querySelector('#classes-table .scroll'); return area.scrollWidth - area.clientWidth"
    assert script(driver, wide) <= 0
    assert "Most often taken for" not in texts(driver, "#classes-table thead th")
    lines = texts(driver, "#classes-table tr.narrow-only")
    assert lines and all(line.startswith("Most often taken for: ") for line in lines)
    first = int(np.argmin([1 if recall is None else recall for recall in told["classes"]["recall"]]))
    click(driver, "#classes-table tr.narrow-only button")
    if name != "evil":  # whose labels hold spaces of all kinds
        assert text(driver, "#pair-title") == title_of(told, first, told["classes"]["takenFor"][first])
    assert texts(visit(name, 820), "#classes-table tr.narrow-only") == []


def test_searching_the_classes(visit):
    driver = visit("many")
    field = driver.find_element("id", "classes-search")
    field.send_keys("CLASS 12")
    assert set(texts(driver, "#classes-table tbody th")) == {"class 12", *(f"class 12{i}" for i in range(10))}
    assert text(driver, "#classes-count") == "11 classes of 440"
    field.send_keys("x")
    assert "No class has a name like that." in text(driver, "#classes-table")
    field.clear()
    field.send_keys(" ")
    assert text(driver, "#classes-count") == "440 classes"


def test_choosing_a_class(visit):
    """From the table or from either list: panel, importance and highlighted row follow."""
    driver = visit("letters")
    script(driver, "Charts.renderAll()")
    click(driver, "#classes-table tbody th button", 4)
    name = texts(driver, "#classes-table tbody th")[4]
    assert text(driver, "#class-name") == f"Class “{name}”"
    assert text(driver, "#of-class-title") == f"For “{name}”"
    assert texts(driver, "#classes-table tr.chosen th") == [name]
    told = report_of(driver)
    choose(driver, "#importance-select", 7)
    assert text(driver, "#class-name") == f"Class “{told['labels'][7]}”"
    assert script(driver, "return document.getElementById('class-select').value") == "7"
    best = told["importance"]["classes"][7][0]
    assert f"size {best[0]}" in script(driver, "return document.getElementById('of-class-plot').ariaLabel")
    assert f"{100 * best[1]:.2f}\u00a0%" in script(
        driver, "return document.getElementById('of-class-table').textContent"
    )


def test_choosing_a_pair_from_the_list(visit):
    driver = visit("letters")
    told = report_of(driver)
    c, k, times = told["confusion"]["cells"][2]
    click(driver, ".pairs button", 2)
    assert text(driver, "#pair-title") == title_of(told, c, k)
    assert text(driver, "#pair-facts").startswith(f"{times} row")
    pair = next(p for p in told["confusion"]["pairs"] if (p["true"], p["predicted"]) == (c, k))
    assert texts(driver, "#examples-table tbody th") == [str(row) for row in pair["rows"]]
    margins = [cell.replace("−", "-") for cell in texts(driver, "#examples-table tbody tr > :nth-child(2)")]
    assert margins == [f"{margin:.2f}" for margin in pair["margins"]]
    assert "size" in text(driver, "#examples-table .reasons")
    assert texts(driver, ".pairs button[aria-pressed='true']")[0].startswith(unquoted(title_of(told, c, k)))


def test_clicking_a_cell_of_the_table(visit):
    driver = visit("few")
    assert not script(driver, "return document.getElementById('matrix-figure').checkVisibility()")
    label = "class 0 taken for class 1"
    click(driver, f".cells button[aria-label^='{label}']")
    assert text(driver, "#pair-title") == "“class 0” taken for “class 1”"
    assert script(driver, "return document.querySelector('.cells [aria-pressed=true]').ariaLabel").startswith(label)


def places_of(told, c, k):
    """Column and row of a pair of classes in the matrix."""
    return [told["confusion"]["order"].index(k), told["confusion"]["order"].index(c)]


def alone(place, places):
    """Whether no other square of the matrix lies near this one; where they overlap, the mouse may meet another."""
    near = [other for other in places if max(abs(other[0] - place[0]), abs(other[1] - place[1])) < 6]
    return len(near) == 1


def test_clicking_a_cell_of_the_chart(visit):
    """The mouse is pressed in the middle of a square that ECharts has drawn."""
    driver = visit("many")
    script(driver, "document.getElementById('matrix-plot').scrollIntoView({block: 'center', behavior: 'instant'})")
    script(driver, "Charts.renderAll()")
    told = report_of(driver)
    places = {(c, k): places_of(told, c, k) for c, k, _ in told["confusion"]["cells"]}
    (c, k), place = next(found for found in list(places.items())[1:] if alone(found[1], places.values()))
    at = """
      const {instance, element} = Charts.all.get('matrix-plot');
      const [x, y] = instance.convertToPixel({gridIndex: 0}, arguments[0]);
      const box = element.getBoundingClientRect();
      return [box.left + x, box.top + y];
    """
    x, y = script(driver, at, place)
    for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
        event = {"type": kind, "x": x, "y": y, "button": "none" if kind == "mouseMoved" else "left", "clickCount": 1}
        driver.execute_cdp_cmd("Input.dispatchMouseEvent", event)
    assert text(driver, "#pair-title") == title_of(told, c, k)


def test_choosing_a_pair_from_lists(visit):
    """Any pair can be chosen without a mouse, also one without errors, and the reverse of one."""
    driver = visit("letters")
    told = report_of(driver)
    choose(driver, "#pair-true", 3)
    expected = told["classes"]["takenFor"][3]
    assert text(driver, "#pair-title") == title_of(told, 3, expected)
    counts = {(c, k): times for c, k, times in told["confusion"]["cells"]}
    never = next(k for k in range(26) if k != 3 and (3, k) not in counts)
    choose(driver, "#pair-predicted", never)
    assert text(driver, "#pair-facts").startswith("0 of 20 rows")
    assert not script(driver, "return document.getElementById('pair-examples').checkVisibility()")
    c, k = next(pair for pair in counts if pair[::-1] in counts)
    choose(driver, "#pair-true", c)
    choose(driver, "#pair-predicted", k)
    click(driver, "#pair-facts button")
    assert text(driver, "#pair-title") == title_of(told, k, c)


def test_deciding_features_change_sides(visit):
    """The reverse pair shows the same features with the opposite sign."""
    driver = visit("letters")
    entry = next(e for e in report_of(driver)["deciding"] if {"rightA", "aForB", "bForA", "rightB"} <= set(e["means"]))
    seen = []
    for c, k in ((entry["a"], entry["b"]), (entry["b"], entry["a"])):
        choose(driver, "#pair-true", c)
        choose(driver, "#pair-predicted", k)
        lines = "[...document.querySelectorAll('#deciding-table tbody tr')]"
        cells = script(driver, f"return {lines}.map(r => [...r.children].map(e => e.textContent))")
        seen.append({row[0]: [float(value.replace("−", "-")) for value in (row[1], row[5])] for row in cells})
    for name, (own, other) in seen[0].items():
        assert seen[1][name] == [-other, -own]


def test_switching_the_curves(visit):
    driver = visit("letters")
    assert texts(driver, "#learning-metrics button") == ["Log-loss", "Error rate"]
    assert texts(driver, "#learning-metrics [aria-pressed=true]") == ["Log-loss"]
    click(driver, "#learning-metrics button", 1)
    assert texts(driver, "#learning-metrics [aria-pressed=true]") == ["Error rate"]
    assert texts(driver, "#learning-legend li") == ["rows of this report"]
    said = script(driver, "return document.getElementById('learning-plot').ariaLabel")
    assert said.startswith("Error rate by rounds")


def test_curves_of_any_metric(driver, tmp_path):
    """Of some metrics more is better, and some change their sign: the axis holds them, and no end is called best."""
    X, c = noisy_blobs(3, 20)

    def gained(c, predictions):
        return predictions.max(axis=1).mean() - 0.7

    clf = sb.SimplexBoostClassifier(n_estimators=20, random_state=0)
    clf.fit(X, c, X_val=X, y_val=c, eval_metric=["accuracy", gained])
    sb.report(clf, X, c, tmp_path / "metrics.html")
    driver.get((tmp_path / "metrics.html").as_uri())
    click(driver, "#learning-metrics button", 3)
    script(driver, "Charts.renderAll()")
    ticks = "return [...document.querySelectorAll('#learning-plot svg text')].map(e => e.textContent)"
    assert any(tick.startswith("−0.") for tick in script(driver, ticks))
    heads = "return [...document.querySelectorAll('#learning-table thead th')].map(e => e.textContent)"
    assert script(driver, heads) == ["Curve", "First round", "Lowest", "Highest", "Last round"]
    assert driver.get_log("browser") == []


def test_dark_and_light(visit):
    """The page follows the system until the reader chooses; the choice is remembered; charts change with it."""
    driver = visit("few", theme="dark")
    ground = "return getComputedStyle(document.body).backgroundColor"
    dark = script(driver, ground)
    assert sum(map(int, dark[4:-1].split(","))) < 150
    assert text(driver, "#theme") == "Light theme"
    script(driver, "Charts.renderAll()")
    fills = "return [...document.querySelectorAll('#overall-plot svg path')].map(e => e.getAttribute('fill'))"
    before = script(driver, fills)
    click(driver, "#theme")
    assert sum(map(int, script(driver, ground)[4:-1].split(","))) > 650
    assert script(driver, fills) != before
    driver.refresh()
    assert text(driver, "#theme") == "Dark theme"
    script(driver, "localStorage.clear()")
    driver.refresh()
    assert script(driver, ground) == dark
    prefer(driver, "light")
    WebDriverWait(driver, 10).until(lambda driver: script(driver, ground) != dark)


def test_sections_that_have_nothing_to_say_are_not_there(visit):
    driver = visit("plain")
    shown = "return [...document.querySelectorAll('section')].filter(e => e.checkVisibility()).map(e => e.id)"
    sections = ["overview", "classes", "confusion", "map", "doubts", "card"]
    assert script(driver, shown) == sections
    assert not {"Learning", "Importance", "Calibration"} & set(texts(driver, ".contents a"))
    links = script(driver, "return [...document.querySelectorAll('#sentences a')].map(e => e.hash.slice(1))")
    assert set(links) <= set(sections)
    assert text(driver, "#pair-title")  # examples are shown, without reasons


def test_a_table_of_all_classes_is_not_cut(visit):
    """On a screen of 820 pixels the list of errors goes below the matrix, which then has room for twelve classes."""
    driver = visit("dozen", 820)
    near = "const e = document.querySelector('#near-table .scroll'); return e.scrollWidth - e.clientWidth"
    assert script(driver, near) == 0


def test_a_model_without_errors(visit):
    driver = visit("right")
    assert text(driver, "#confusion-about") == "No row was predicted wrong."
    assert "The model agrees with all labels." in text(driver, "#doubts-table")


def test_keyboard_reaches_everything(visit):
    """Tab goes through links, buttons, lists and tables, and Enter presses what has the focus."""
    driver = visit("few")
    body = driver.find_element("css selector", "body")
    body.send_keys("\ue004")  # tab
    assert script(driver, "return document.activeElement.className") == "skip"
    controls = "[...document.querySelectorAll('button, select, input, summary, a')].filter(e => e.checkVisibility())"
    assert script(driver, f"return {controls}.filter(e => !e.disabled && e.tabIndex < 0).length") == 0
    button = driver.find_element("css selector", ".cells button.error")
    script(driver, "arguments[0].focus()", button)
    outline = script(driver, "return getComputedStyle(arguments[0]).outlineStyle", button)
    label = button.get_attribute("aria-label").split(":")[0]
    button.send_keys("\ue007")  # enter
    assert unquoted(text(driver, "#pair-title")) == label
    assert outline in ("solid", "auto")
    # What was pressed keeps the focus, although its table is drawn anew.
    focus = "return document.activeElement.ariaLabel ?? document.activeElement.textContent"
    assert script(driver, focus).startswith(label)
    for selector in ("#classes-table tbody th button", ".pairs button"):
        button = driver.find_elements("css selector", selector)[1]
        said = button.text
        button.send_keys("\ue007")
        assert "".join(script(driver, focus).split()) == "".join(said.split())


def test_rows_of_the_fit_are_told(visit, driver, tmp_path):
    X, c = noisy_blobs(3, 20)
    clf = sb.SimplexBoostClassifier(n_estimators=5, random_state=0).fit(X, c)
    sb.report(clf, X, c, tmp_path / "fitted.html")
    driver.get((tmp_path / "fitted.html").as_uri())
    assert text(driver, "#fitted").startswith("These seem to be the rows that the model was fitted to.")
