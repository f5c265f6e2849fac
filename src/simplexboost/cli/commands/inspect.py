"""``simplexboost inspect``."""

from __future__ import annotations

import json
import re
from typing import Any

import click
import numpy as np

from ..._sizes import in_bytes
from ..kinds import NEARLY_ALL
from ..scoring import Model, model_size, open_model

PADDED = re.compile(r"0\d+")
MOST = 20  # classes and columns that are shown; --all shows more


@click.command("inspect", short_help="Show what is in a model.")
@click.argument("model")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--all", "everything", is_flag=True, help=f"Show all classes and columns, not only {MOST}.")
def command(model: str, as_json: bool, everything: bool) -> None:
    """Show what is in MODEL: algorithm, parameters, classes, columns, rounds and importances.

    \b
    Examples:
      simplexboost inspect model.sb
      simplexboost inspect model.sb --json | jq .columns
    """
    found = about(open_model(model))
    print(json.dumps(found, indent=1, default=str) if as_json else text(found, None if everything else MOST))


def about(model: Model) -> dict[str, Any]:
    """What is known of a model."""
    classifier = model.classifier
    importances = getattr(classifier, "feature_importances_", None)
    names = model.names or [f"column {i + 1}" for i in range(classifier.n_features_in_)]
    categories = getattr(getattr(classifier, "categories_", None), "columns", [None] * len(names))
    kinds = getattr(classifier, "feature_kinds_", None) or ["number"] * len(names)
    columns = [
        {
            "name": name,
            "kind": kind if values is None else "categories",
            **({} if values is None else {"categories": len(values)}),
            **({} if (code := a_code(values)) is None else {"code": code}),
            **({} if importances is None else {"importance": float(importances[j])}),
        }
        for j, (name, kind, values) in enumerate(zip(names, kinds, categories, strict=True))
    ]
    return {
        "file": model.path,
        "bytes": model_size(model.path),
        "algorithm": type(classifier).__name__,
        "parameters": {name: plain(value) for name, value in changed(classifier).items()},
        "rounds": getattr(classifier, "n_iter_", None),
        "classes": model.classes.tolist(),
        "columns": columns,
        "choice": str(classifier.choice_) if hasattr(classifier, "choice_") else None,
    }


def a_code(categories: Any) -> str | None:
    """Of categories that are whole numbers as text, one with a zero before it, such as 06000; None if there is none."""
    texts = [] if categories is None else [text for text in categories.tolist() if isinstance(text, str)]
    if sum(text.isdecimal() for text in texts) < NEARLY_ALL * len(texts):
        return None
    return next((text for text in texts if PADDED.fullmatch(text)), None)


def changed(classifier: Any) -> dict[str, Any]:
    """The parameters that differ from their defaults."""
    default = type(classifier)().get_params(deep=False)
    return {
        name: value
        for name, value in classifier.get_params(deep=False).items()
        if name != "callbacks" and repr(value) != repr(default[name])
    }


def plain(value: Any) -> Any:
    """A parameter as JSON has it."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value if value is None or isinstance(value, bool | int | float | str | list) else repr(value)


def text(found: dict[str, Any], most: int | None) -> str:
    """The same for people."""
    settings = ", ".join(f"{name}={value}" for name, value in found["parameters"].items()) or "all as by default"
    rounds = "" if found["rounds"] is None else f", {found['rounds']} rounds"
    labels, columns = found["classes"], found["columns"]
    lines = [
        f"{found['file']}: {found['algorithm']}{rounds}, {in_bytes(found['bytes'])}",
        f"parameters: {settings}",
        f"{len(labels)} classes: {', '.join(map(str, labels[:most]))}{', …' if most and len(labels) > most else ''}",
        f"{len(columns)} columns:",
    ]
    columns = sorted(columns, key=lambda column: -column.get("importance", 0.0))
    width = max(len(column["name"]) for column in columns[:most])
    for column in columns[:most]:
        kind = column["kind"] if "categories" not in column else f"{column['categories']} categories"
        kind += f", codes such as {column['code']}" if "code" in column else ""
        importance = f"  importance {column['importance']:.4f}" if "importance" in column else ""
        lines.append(f"  {column['name']:{width}}  {kind:15}{importance}".rstrip())
    if most and len(columns) > most:
        lines.append(f"  … and {len(columns) - most} more (--all)")
    return "\n".join(lines + ([f"chosen by {found['choice']}"] if found["choice"] else []))
