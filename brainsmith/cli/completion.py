"""`brainsmith completion SHELL`, and what the shell then asks: argcomplete, imported only for that."""

from __future__ import annotations

from functools import partial

from brainsmith import TYPE_CHECKING
from brainsmith.cli.command_line import HELP
from brainsmith.cli.verbs import VERBS

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Iterable
    from typing import Any

    from brainsmith.cli.command_line import Argument, Options
    from brainsmith.cli.terminal import Terminal


def run(options: Options, terminal: Terminal) -> int:
    """Print the code that a shell evaluates."""
    import argcomplete

    terminal.write(argcomplete.shellcode(["brainsmith"], shell=options.required("SHELL")).strip())
    return 0


def complete() -> None:
    """Answer the shell and end the process."""
    import argcomplete

    argcomplete.autocomplete(parser(), always_complete_options=False)


def parser() -> ArgumentParser:
    """Return the verbs as an argparse parser, which is what argcomplete reads."""
    import argparse

    top = argparse.ArgumentParser("brainsmith")
    top.add_argument("--version", "-V", action="store_true")
    below = top.add_subparsers()
    below.add_parser(HELP, help="show a verb's options").add_argument(
        "verb", choices=sorted({verb.words[0] for verb in VERBS})
    )
    groups: dict[str, Any] = {}
    for verb in VERBS:
        place = below
        if len(verb.words) > 1:
            if verb.words[0] not in groups:
                groups[verb.words[0]] = below.add_parser(verb.words[0]).add_subparsers()
            place = groups[verb.words[0]]
        made = place.add_parser(verb.words[-1], help=verb.about)
        for argument in verb.arguments:
            _add(made, argument)
    return top


def _add(made: ArgumentParser, argument: Argument) -> None:
    name = argument.name if argument.is_option else argument.name.lower()
    if argument.is_option and not argument.value:
        made.add_argument(name, action="store_true", help=argument.about)
        return
    may_lack = bool(argument.default) if argument.is_option else not argument.required
    optional: Any = {"nargs": "?"} if may_lack else {}
    action: Any = made.add_argument(name, choices=argument.choices or None, help=argument.about, **optional)
    completer = _completer(argument)
    if completer is not None:
        action.completer = completer


def _completer(argument: Argument) -> Any:
    if argument.completes == "files":
        from argcomplete.completers import FilesCompleter

        return FilesCompleter()
    if argument.completes == "folders":
        from argcomplete.completers import DirectoriesCompleter

        return DirectoriesCompleter()
    fields = _FIELDS.get(argument.completes)
    if fields is None:
        return None if argument.choices else lambda **_: []
    return partial(_offer, fields)


_FIELDS = {"plugins": ("name", "qualified"), "frameworks": ("framework",), "stages": ("stage",)}
"""What of a record is offered, by what an argument completes."""


def _offer(fields: Iterable[str], prefix: str, parsed_args: Any, **_: Any) -> list[str]:
    """Return the names that begin with a prefix; of one type, where --type was given before."""
    from brainsmith.plugin.manager import get_plugin_manager

    plugin_type = getattr(parsed_args, "type", None)
    records = get_plugin_manager().discover_plugins(modes=["full"])
    wanted = [info for info in records if plugin_type in (None, info.type)]
    names = {getattr(info, field) for info in wanted for field in fields}
    return sorted(name for name in names if name and name.startswith(prefix))
