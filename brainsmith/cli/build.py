"""`brainsmith build`: one build, with its steps as they are done and a summary."""

from __future__ import annotations

import time

from brainsmith import TYPE_CHECKING
from brainsmith.cli.live_line import LiveLine
from brainsmith.cli.terminal import complain
from brainsmith.collector import collector_seldom
from brainsmith.errors import NotProvenError, UsageError

if TYPE_CHECKING:
    from typing import Any

    from brainsmith.cli.command_line import Options
    from brainsmith.cli.terminal import Terminal


def run(options: Options, terminal: Terminal) -> int:
    """Build; progress and the summary go to standard output, warnings to standard error."""
    with collector_seldom():
        return _run(options, terminal)


def _run(options: Options, terminal: Terminal) -> int:
    begin = time.perf_counter()
    from brainsmith.build import build

    def say(text: str) -> None:
        terminal.write(text)
        terminal.flush()

    line = LiveLine(terminal, say)

    def show(event: Any) -> None:
        """Print each step when it is done, and how far the one is that runs."""
        if event.kind == "work":
            line.works(event.works, str(event).removesuffix("; ".join(map(str, event.works))))
            return
        line.clear()
        if event.kind == "start":
            terminal.write_over(f"{event} ...")
        else:
            say(str(event))

    try:
        result = build(
            options.required("MODEL"),
            options.texts("--blueprint"),
            output_of(options),
            progress=show,
            fit=options.text("--fit"),
            use_cache=not options.flag("--no-cache"),
            explain=options.flag("--explain"),
            locked=options.flag("--locked"),
            **arguments_of(options),
        )
    except NotProvenError as error:
        line.clear()
        _end(error.result, terminal, begin, strict=True)
        raise
    finally:  # an error has a line of its own
        line.clear()
    _end(result, terminal, begin)
    return 0


def arguments_of(options: Options) -> dict[str, Any]:
    """Return what options say of a build, also of one that is repeated."""
    return {
        "overrides": options.texts("--set"),
        "produce": options.text("--produce"),
        "part": options.text("--part"),
        "input_datatype": options.text("--input-datatype"),
        "verify_inputs": options.text("--verify-inputs"),
        "verify_labels": options.text("--verify-labels"),
        "verify_expected": options.text("--verify-expected"),
        "verify": not options.flag("--no-verify"),
        "report": not options.flag("--no-report"),
        "strict": options.flag("--strict") or None,  # else the blueprint decides
    }


def model_folder(model: str) -> str:
    """Return the folder of a model's builds where none is given: `out/` and the model's name."""
    return f"out/{model.replace(chr(92), '/').rpartition('/')[2].removesuffix('.onnx')}"


def output_of(options: Options) -> str:
    """Return the folder for the output: with --fit and without --output, `out/` and the model's name.

    Raises:
        UsageError: There is neither --fit nor both of --blueprint and --output, or both --fit and --part.
    """
    fit, output = options.text("--fit"), options.text("--output")
    see = "\n  brainsmith build --help shows its options"
    for name, what in (("--blueprint", "FILE"), ("--output", "DIR")):
        if fit is None and options.text(name) is None:
            raise UsageError(f"brainsmith build needs {name} {what}, or --fit PART{see}")
    if fit is not None and options.text("--part") is not None:
        raise UsageError(f"--fit names the device, and --part does too: leave --part out{see}")
    return output or model_folder(options.required("MODEL"))


def _end(result: Any, terminal: Terminal, begin: float, strict: bool = False) -> None:
    seconds = time.perf_counter() - begin
    terminal.give(lambda: _plain(result, seconds), lambda: _show(result, terminal, begin))
    _warn(result, strict)


def _plain(result: Any, seconds: float) -> dict[str, Any]:
    """Return a build's result for programs: paths, and of `report.json` all but layers, graphs and plugins."""
    made = {"report": result.output / "report.json", "page": result.page, "package": result.package}
    kept = (
        "shortfalls",
        "warnings",
        "steps",
        "estimate",
        "rate",
        "rtl",
        "synthesis",
        "fit",
        "device",
        "accuracy",
    )
    return {
        "output": result.output,
        "model": result.model,
        **made,
        "seconds": round(seconds, 1),
        "proven": result.proven,
        **{name: result.report.get(name) for name in kept},
        "error": None,
    }


def _show(result: Any, terminal: Terminal, begin: float) -> None:
    """Print the end of a build."""
    from brainsmith.build.report import summary_text

    terminal.write("")
    terminal.write(summary_text(result.report, result.output, warnings=False))
    terminal.write(f"{'time':<10} {time.perf_counter() - begin:.1f} s from start to end")


def _warn(result: Any, strict: bool) -> None:
    """Print the warnings; what a strict build lacks is its error, and no warning besides."""
    from brainsmith.build.report import warning_lines

    for line in warning_lines(result.report):
        if not (strict and line.startswith("shortfall: ")):
            complain(line)
