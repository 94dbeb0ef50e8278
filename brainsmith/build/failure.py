"""Say where a step failed, after which steps, and where the last good model is."""

from __future__ import annotations

from opcode import opmap
from typing import TYPE_CHECKING

from brainsmith.build.messages import LOG
from brainsmith.build.workspace import checkpoint_name
from brainsmith.errors import BuildError, ModelError, UnverifiedStepError, VerificationError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from types import FrameType


def failing_node(error: BaseException) -> str:
    """Return ` at node 'x' (Op)` if the code that raised was working on a node of the graph; else nothing."""
    frames = []
    trace = error.__traceback__
    while trace is not None:
        frames.append(trace.tb_frame)
        trace = trace.tb_next
    for frame in reversed(frames):
        node = _node_in(frame)
        if node is not None:
            return f" at node {node}"
    return ""


def failed_step(name: str, error: BaseException, text: str) -> BuildError:
    """Return the error of a step in which another one was raised.

    Args:
        name: Of the step.
        error: Says at which node.
        text: What it was.
    """
    failed = BuildError(f"step '{name}' failed{failing_node(error)}: {text}")
    failed.step = name
    return failed


def refusal(error: BaseException) -> ModelError | None:
    """Return what QONNX or FINN refuses as an error of ours, if it was raised on purpose, with a text.

    That is a `raise` or `assert` in code of theirs, on something that a model asks for. An index that is out of
    range, a key or attribute that is not there, and whatever a library below them raises, is a defect instead.
    """
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None or isinstance(error, AttributeError | LookupError | TypeError) or not str(error).strip():
        return None
    framework = str(trace.tb_frame.f_globals.get("__name__", "")).partition(".")[0]
    raised = trace.tb_frame.f_code.co_code[trace.tb_lasti] == opmap["RAISE_VARARGS"]
    if framework not in ("finn", "qonnx") or not raised:
        return None
    where = "this node" if failing_node(error) else "the model"
    return ModelError(
        f"{framework.upper()} refuses {where}: {str(error).strip()}\n"
        "  change the model there, or bring it into another form with a transform before this step"
    )


def _node_in(frame: FrameType) -> str | None:
    held = frame.f_locals
    owner = held.get("self")
    for candidate in (held.get("node"), held.get("n"), getattr(owner, "onnx_node", None)):
        name, kind = getattr(candidate, "name", None), getattr(candidate, "op_type", None)
        if isinstance(name, str) and isinstance(kind, str):
            outputs = list(getattr(candidate, "output", ()))
            return f"'{name or (outputs[0] if outputs else '?')}' ({kind})"
    return None


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
    if isinstance(error, VerificationError) and not isinstance(error, UnverifiedStepError):
        lines.append(
            "  a difference that is mere rounding can be allowed: `verify: {tolerance: {STEP: ERROR}}`; a step that "
            "approximates can be stated: `verify: {approximate: {STEP: {error: ERROR, classes: SAMPLES}}}`"
        )
    return "\n".join(lines)
