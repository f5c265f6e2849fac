"""``simplexboost export``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ... import export
from ..._sizes import in_bytes
from ..errors import ArgumentError, InputError
from ..options import talk_of
from ..scoring import open_model
from ..writing import check_writable

ROUTES = {
    "onnx": (export.onnx, ".onnx"),
    "treelite": (export.treelite, ".treelite"),
    "c": (export.c, ".c"),
    "python": (export.python, ".py"),
    "js": (export.javascript, ".js"),
}
TO = "The format; where it is left out, the extension of FILE tells."
BESIDE = {"c": [".h"], "js": [".sb"]}  # what is written beside FILE
SCORES = "Leave probabilities out where the format cannot hold them (onnx, treelite, c)."
SINGLE = "Take values in single precision (onnx, treelite)."


@click.command("export", short_help="Write a model for another program.")
@click.argument("model")
@click.option("--to", type=click.Choice(list(ROUTES)), help=TO)
@click.option("-o", "--output", required=True, metavar="FILE", help="Where to write.")
@click.option("--no-proba", is_flag=True, help=SCORES)
@click.option("--float32", is_flag=True, help=SINGLE)
@click.option("-q", "--quiet", is_flag=True, help="Say nothing on standard error but errors.")
def command(**options: Any) -> None:
    """Write MODEL for another program: as ONNX, for treelite, as C, Python or JavaScript source.

    ONNX needs the package onnx, and treelite the package treelite (pip install onnx treelite). C comes with a header
    (.h), JavaScript with the model file (.sb) that it reads; Python has the model inside, and needs NumPy alone.

    \b
    Examples:
      simplexboost export model.sb --to onnx -o model.onnx
      simplexboost export model.sb -o model.py
      simplexboost export model.sb -o model.c --no-proba
    """
    talk, output = talk_of(options), options["output"]
    if output == "-":
        raise ArgumentError("-o - is standard output; an exported model is a file, so pass its name.")
    to = options["to"] or route_of(output)
    more = chosen(to, options)
    check_writable(output, {"the model": options["model"]}, BESIDE.get(to, []))
    classifier = open_model(options["model"]).classifier
    try:
        ROUTES[to][0](classifier, output, **more)
    except (TypeError, ValueError, ImportError) as error:
        hint = str(error).replace("probabilities=False", "--no-proba")
        raise InputError(f"{options['model']}: {hint}") from error
    for path in [Path(output), *(Path(output).with_suffix(suffix) for suffix in BESIDE.get(to, []))]:
        talk.say(f"saved {path}: {in_bytes(path.stat().st_size)}")


def route_of(output: str) -> str:
    """The format that an extension stands for."""
    found = next((to for to, (_, suffix) in ROUTES.items() if Path(output).suffix == suffix), None)
    if found is None:
        known = ", ".join(f"{suffix} ({to})" for to, (_, suffix) in ROUTES.items())
        raise ArgumentError(f"-o {output} does not tell the format; pass --to, or one of the extensions {known}.")
    return found


def chosen(to: str, options: dict[str, Any]) -> dict[str, Any]:
    """The options of a route; those that it does not have are refused."""
    for option, routes in (("no_proba", ("onnx", "treelite", "c")), ("float32", ("onnx", "treelite"))):
        if options[option] and to not in routes:
            raise ArgumentError(
                f"--{option.replace('_', '-')} is for {', '.join(routes)}; leave it out with --to {to}."
            )
    found: dict[str, Any] = {}
    if options["no_proba"]:
        found["probabilities"] = False
    if options["float32"]:
        found["dtype"] = "float32"
    return found
