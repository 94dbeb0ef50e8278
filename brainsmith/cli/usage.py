"""Help: of everything, of a group of verbs, or of one verb."""

from __future__ import annotations

from brainsmith.cli.arguments import HELP
from brainsmith.cli.verbs import VERBS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.cli.arguments import Verb
    from brainsmith.cli.terminal import Terminal


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
        more = ((f"{HELP} [VERB]", "show what a verb takes"), ("-V, --version", "print the version"))
        terminal.pairs([(name.ljust(_widest()), about) for name, about in more], "  ")
    terminal.write(f"\n{verbs[0].command} --help shows what a verb takes, and an example.")


def _widest() -> int:
    return max(len(" ".join(verb.words)) for verb in VERBS)


def _print_verb(verb: Verb, terminal: Terminal) -> None:
    import textwrap

    width = terminal.width or 100
    wrapped = textwrap.wrap(
        f"usage: {verb.usage}", width, subsequent_indent="       ", break_on_hyphens=False
    )
    terminal.write("\n".join(wrapped))
    terminal.write(f"\n{verb.about[0].upper()}{verb.about[1:]}.")
    terminal.write("\n".join(textwrap.wrap(verb.more, width)))
    pairs = [(argument.label, argument.about) for argument in verb.arguments]
    terminal.write("")
    terminal.pairs([*pairs, ("--help", "print this")], "  ")
    terminal.write(f"\nExample:\n  {verb.example}")
