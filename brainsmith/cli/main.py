# PYTHON_ARGCOMPLETE_OK
"""The command line `brainsmith`: find the verb, run it, and turn errors into one message and an exit code."""

from __future__ import annotations

import os
import sys
import warnings

from brainsmith import TYPE_CHECKING
from brainsmith.cli.command_line import HELP
from brainsmith.cli.terminal import Terminal, complain
from brainsmith.cli.warning_lines import one_line
from brainsmith.errors import BrainsmithError, UsageError, exit_code
from brainsmith.settings import is_completing, trace_exporters

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from brainsmith.cli.command_line import Options, Verb


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: What the user typed after `brainsmith`; the process's own arguments by default.

    Returns:
        The exit code: 0, what the verb found (1: not healthy, outputs that differ), or that of the error, which is
        printed on standard error.
    """
    words = sys.argv[1:] if argv is None else list(argv)
    if argv is None and is_completing():
        from brainsmith.cli.completion import complete

        complete()
    if argv is None:
        _end_as_by_ctrl_c()
    if "--json" in _ahead(words) and not _asks_for_help(words):
        from brainsmith.cli.document import with_document

        status = with_document(lambda terminal: _attempt(words, terminal), own_process=argv is None)
    else:
        status, _ = _attempt(words, Terminal())
    _settle_output()
    return status


def _attempt(words: list[str], terminal: Terminal) -> tuple[int, BaseException | None]:
    """Run a command; return the exit code, and the error that ended it, which was printed."""
    try:
        status = _run(words, terminal)
        terminal.flush()
        return status, None
    except BrainsmithError as error:
        complain(f"error: {error}")
        return exit_code(error), error
    except KeyboardInterrupt as error:
        complain(str(error) or "interrupted")
        forget_interrupt()
        return exit_code(error), error
    except BrokenPipeError as error:  # the reader of our output has ended
        return exit_code(error), error


def forget_interrupt() -> None:
    """Let the process go on after a KeyboardInterrupt was caught, wherever that came.

    One inside of exec() of a text, such as dataclasses run when they are imported, is remembered by the interpreter as one
    that nobody caught, and ends the process by the signal; the next exec() forgets that.
    """
    exec("")


def _ahead(words: list[str]) -> list[str]:
    """Return the words that may be options."""
    return words[: words.index("--")] if "--" in words else words


def _asks_for_help(words: list[str]) -> bool:
    ahead = _ahead(words)
    return not words or words[0] == HELP or "--help" in ahead or "-h" in ahead


def _end_as_by_ctrl_c() -> None:
    """Let `kill` and a terminal that closes end a command as Ctrl-C does: with its compilers, and nothing half written."""
    import _signal  # type: ignore[import-not-found]  # `signal` costs a millisecond, for its enums

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    for number in (_signal.SIGTERM, _signal.SIGHUP):
        if _signal.getsignal(number) == _signal.SIG_DFL:  # `nohup` ignores SIGHUP, and means it
            _signal.signal(number, interrupt)


def _run(words: list[str], terminal: Terminal) -> int:
    if words[:1] in (["--version"], ["-V"]):
        from brainsmith import __version__

        terminal.document = {"version": __version__}
        terminal.write(f"brainsmith {__version__}")
        return 0
    if _asks_for_help(words):
        _help(words[1:] if words[:1] == [HELP] else words, terminal)
        return 0
    verb = find_verb(words)
    from brainsmith.cli.command_line import TRUST_MODEL, parse

    options = parse(verb, words[len(verb.words) :])
    if trace_exporters():
        from brainsmith.monitoring.exporting import export_traces

        if problem := export_traces():
            complain(f"warning: {problem}")
    warnings.formatwarning = one_line
    __import__(verb.module)
    run: Callable[[Options, Terminal], int] = sys.modules[verb.module].run
    if options.flag(TRUST_MODEL):
        from brainsmith.settings import trust_models_here

        end = trust_models_here()
        try:
            return _run_logged(run, options, terminal, words)
        finally:
            end()
    return _run_logged(run, options, terminal, words)


def _run_logged(
    run: Callable[[Options, Terminal], int], options: Options, terminal: Terminal, words: list[str]
) -> int:
    if not options.says_how_much:
        return run(options, terminal)
    from brainsmith.cli.log_options import logged

    with logged(options, terminal, words):
        return run(options, terminal)


def _help(words: list[str], terminal: Terminal) -> None:
    """Print the help of the verb or group that the words before all options name; else that of everything."""
    from brainsmith.cli.usage import print_help
    from brainsmith.cli.verbs import VERBS

    first_option = next((at for at, word in enumerate(words) if word.startswith("-")), len(words))
    named = [] if words[:1] == [HELP] else words[:first_option]
    if len(named) > 1 or (named and named[0] not in [verb.words[0] for verb in VERBS]):
        find_verb(named)
    print_help(named, terminal)


def find_verb(words: list[str]) -> Verb:
    """Return the verb that some words begin with.

    Raises:
        UsageError: There is no such verb; a close one is named.
    """
    from brainsmith.cli.verbs import VERBS

    for verb in VERBS:
        if tuple(words[: len(verb.words)]) == verb.words:
            return verb
    from brainsmith.close_names import did_you_mean

    below = [verb.words[1] for verb in VERBS if verb.words[0] == words[0] and len(verb.words) > 1]
    if below and len(words) < 2:
        raise UsageError(
            f"brainsmith {words[0]} needs a verb: {', '.join(below)}\n  brainsmith --help shows them"
        )
    if below:
        raise UsageError(
            f"brainsmith {words[0]} has no verb {words[1]!r}{did_you_mean(words[1], below)}"
            f"\n  it has {', '.join(below)}"
        )
    first = [*dict.fromkeys(verb.words[0] for verb in VERBS), HELP]
    kind = "option" if words[0].startswith("-") else "verb"
    known = ["--help", "--version"] if kind == "option" else first
    raise UsageError(
        f"brainsmith has no {kind} {words[0]!r}{did_you_mean(words[0], known)}\n  it has {', '.join(known)}"
    )


def _settle_output() -> None:
    """Print what is waiting; where that fails, let the interpreter's own attempt at the end go nowhere."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
