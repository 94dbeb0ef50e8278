"""Say where a step failed, after which steps, and where the last good model is."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from opcode import opmap
from pathlib import Path

from brainsmith.build.failing_node import failing_node, traces_of
from brainsmith.build.messages import LOG
from brainsmith.build.workspace import checkpoint_name
from brainsmith.errors import BrainsmithError, BuildError, ModelError, VerificationError
from brainsmith.plugin.not_found import INSTALL


def failed_step(name: str, error: BaseException, text: str, file: str = "") -> BuildError:
    """Return the error of a step in which another one was raised.

    Args:
        name: Of the step.
        error: Says at which node. One of ours names its nodes in its text: what a frame of it holds may be another one,
            such as the last of a loop that collected those nodes.
        text: What it was.
        file: Where the step is defined; the line of it that raised is named.
    """
    ours = isinstance(error, BrainsmithError)
    node, line = ("", "") if ours else (failing_node(error), _line_in(file, error))
    failed = BuildError(f"step '{name}' failed{node}: {text}{line}")
    failed.step = name
    return failed


def _line_in(file: str, error: BaseException) -> str:
    """Return ` (file:line)`, the innermost line of a file that was on the way to an error; nothing if none was."""
    lines = [each.tb_lineno for each in traces_of(error) if each.tb_frame.f_code.co_filename == file]
    return f" ({file}:{lines[-1]})" if lines else ""


def refusal(error: BaseException) -> ModelError | None:
    """Return what QONNX or FINN refuses as an error of ours, if it was raised on purpose, with a text.

    That is a `raise` or `assert` in code of theirs, on something that a model asks for. An index that is out of
    range, a key or attribute that does not exist, and whatever a library below them raises, is a defect instead.
    """
    traces = traces_of(error)
    if not traces or isinstance(error, AttributeError | LookupError | TypeError) or not str(error).strip():
        return None
    trace = traces[-1]
    framework = str(trace.tb_frame.f_globals.get("__name__", "")).partition(".")[0]
    raised = trace.tb_frame.f_code.co_code[trace.tb_lasti] == opmap["RAISE_VARARGS"]
    if framework not in ("finn", "qonnx") or not raised:
        return None
    where = failing_node(error).removeprefix(" at ") or "the model"
    return ModelError(
        f"{framework.upper()} refuses {where}: {str(error).strip()}\n"
        "  change the model there, or bring it into another form with a transform before this step"
    )


def missing_framework(error: BaseException) -> str:
    """Return what to install where an import failed because a framework is not installed; empty for any other error."""
    name = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    if name not in INSTALL or find_spec(name) is not None:
        return ""
    return f"it needs {name.upper()}, which is not installed: {INSTALL[name]}"


def explained(error: BuildError, done: Sequence[str], failed: Path, said: bool) -> str:
    """Return the message of a failed build.

    Args:
        error: What stopped it.
        done: The steps that ran.
        failed: Where what there was is kept.
        said: Whether the steps said something.
    """
    blamed = bool(done) and isinstance(error, VerificationError) and error.step == done[-1]
    good = len(done) - 1 if blamed else len(done)
    lines = [str(error)]
    if said:
        lines.append(f"  what the steps said, and where one failed: {failed / LOG}")
    if good:
        lines.append(f"  steps before it: {', '.join(done[:good])}")
        lines.append(f"  last good model: {failed / checkpoint_name(good, done[good - 1])}")
    else:
        lines.append("  it was the first step; the last good model is the input model")
    if isinstance(error, VerificationError) and error.advice:
        lines.append(f"  {error.advice}")
    return "\n".join(lines)
