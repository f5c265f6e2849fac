"""The table of the README, from the tables of the race: ``python -m benchmarks.readme`` prints it.

Of each library it shows the best accuracy and the best log-loss of all its rows, with its defaults and tuned, each at
the end of the fit; ours are those of the defaults.
"""

from __future__ import annotations

from .contestants import OURS
from .pictures import RESULTS, rows
from .tables import best_in_bold, table

MANY = ("ujiindoorloc", "aloi27", "plants_margin", "letter", "isolet")
FEW = ("pendigits", "covtype15k", "satimage", "connect4", "magic04")
LIBRARIES = {
    OURS: "simplexboost",
    "lightgbm": "LightGBM",
    "xgboost": "XGBoost",
    "catboost": "CatBoost",
    "histgb": "HGB",
}


def standing(dataset: str, column: str, page: str) -> tuple[int, list[float | None]]:
    """The number of classes, and the best value of every library; None where it did not finish a round."""
    section = page.split(f"\n### {dataset}\n", 1)[1].partition("Time ratio")[0]
    best = max if column == "accuracy" else min
    found = list(rows(section))
    values = []
    for library in LIBRARIES:
        own = [row[column] for row in found if row["contestant"].split(",")[0].removesuffix("-multi") == library]
        numbers = [float(text) for text in own if text != "–"]
        values.append(best(numbers) if numbers else None)
    return int(section.partition(" classes")[0].rsplit(None, 1)[1]), values


def peers_table() -> str:
    """A row for every set: accuracy, and log-loss after a stroke; the best of each in bold."""
    page, lines = RESULTS.read_text(encoding="utf-8"), []
    for dataset in (*MANY, *FEW):
        classes, accuracy = standing(dataset, "accuracy", page)
        _, loss = standing(dataset, "log-loss", page)
        cells = zip(
            best_in_bold(accuracy, 3, higher_is_better=True), best_in_bold(loss, 3, higher_is_better=False), strict=True
        )
        lines.append([dataset, str(classes), *(f"{a} / {b}" for a, b in cells)])
    return table(["set", "classes", *LIBRARIES.values()], lines)


if __name__ == "__main__":
    print(peers_table())
