"""Say where a step failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
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


def _node_in(frame: FrameType) -> str | None:
    held = frame.f_locals
    owner = held.get("self")
    for candidate in (held.get("node"), held.get("n"), getattr(owner, "onnx_node", None)):
        name, kind = getattr(candidate, "name", None), getattr(candidate, "op_type", None)
        if isinstance(name, str) and isinstance(kind, str):
            outputs = list(getattr(candidate, "output", ()))
            return f"'{name or (outputs[0] if outputs else '?')}' ({kind})"
    return None
