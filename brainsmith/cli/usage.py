"""Help: of everything, of a group of verbs, or of one verb."""

from __future__ import annotations

from brainsmith import TYPE_CHECKING
from brainsmith.cli.command_line import HELP
from brainsmith.cli.verbs import VERBS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.cli.command_line import Verb
    from brainsmith.cli.terminal import Terminal

# Columns: where there is no terminal to ask, and what a terminal may be too wide to read in one line.
_WIDTH, _WIDEST = 80, 100
_LEAST_ROOM = 30


def print_help(words: Sequence[str], terminal: Terminal) -> None:
    """Print the help of the verb that some words begin with, or of all verbs."""
    for verb in VERBS:
        if tuple(words[: len(verb.words)]) == verb.words:
            _print_verb(verb, terminal)
            return
    group = [verb for verb in VERBS if words and verb.words[0] == words[0]]
    if not group:
        terminal.write(
            "usage: brainsmith VERB ...\n\nBuild FPGA accelerators from quantised neural networks.\n"
        )
    verbs = group or VERBS
    terminal.pairs([(" ".join(verb.words), verb.about) for verb in verbs], "  ")
    if not group:
        more = ((f"{HELP} [VERB]", "show a verb's options"), ("-V, --version", "print the version"))
        terminal.pairs([(name.ljust(_widest()), about) for name, about in more], "  ")
    terminal.write(f"\n{verbs[0].command} --help shows a verb's options, and an example.")


def _widest() -> int:
    return max(len(" ".join(verb.words)) for verb in VERBS)


def _print_verb(verb: Verb, terminal: Terminal) -> None:
    width = min(terminal.width or _WIDTH, _WIDEST)
    # An option stays on one line with its value: only spaces of this kind are broken at.
    usage = " ".join(["usage:", verb.command, *(part.replace(" ", "\xa0") for part in verb.parts)])
    terminal.write(_wrapped(usage, width, "       ").replace("\xa0", " "))
    terminal.write(f"\n{verb.about[0].upper()}{verb.about[1:]}.")
    terminal.write(_wrapped(verb.more, width))
    pairs = [(argument.label, argument.about) for argument in verb.arguments]
    pairs.append(("--help", "print this"))
    room = max(width - max(len(label) for label, _ in pairs) - 4, _LEAST_ROOM)
    terminal.write("")
    terminal.pairs([(label, _wrapped(about, room)) for label, about in pairs], "  ")
    terminal.write(f"\nExample:\n  {verb.example}")


def _wrapped(text: str, width: int, indent: str = "") -> str:
    import textwrap

    lines = textwrap.wrap(
        text, width, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False
    )
    return "\n".join(lines)
