"""``simplexboost completion``."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command("completion", short_help="Print the completion script of a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the script that lets a shell complete commands and options.

    \b
    Examples:
      simplexboost completion bash >> ~/.bashrc
      simplexboost completion zsh >> ~/.zshrc
      simplexboost completion fish > ~/.config/fish/completions/simplexboost.fish
    """
    from ..app import app

    kind = get_completion_class(shell)
    assert kind is not None
    print(kind(app, {}, "simplexboost", "_SIMPLEXBOOST_COMPLETE").source())
