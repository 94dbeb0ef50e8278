"""Find the node of a graph that code was working on when it raised, and no other.

A local variable keeps the last node of a loop that is over. So a variable counts only where its meaning is certain: in
the body of the loop that binds it, as a parameter, or between an assignment and the last statement that reads it.
"""

from __future__ import annotations

import ast
import linecache
from itertools import islice
from types import CodeType, FrameType, TracebackType
from typing import Any

from brainsmith.build.variable_spans import Place, is_current

_NAMES = ("node", "n")
"""What transforms call the node that they work on."""


def failing_node(error: BaseException) -> str:
    """Return ` at node 'x' (Op)` if the code that raised was working on a node of the graph; else nothing."""
    for trace in reversed(traces_of(error)):
        node = _node_in(trace.tb_frame, trace.tb_lasti)
        if node:
            return f" at node {node}"
    return ""


def traces_of(error: BaseException) -> list[TracebackType]:
    """Return the places through which an error came, the one that raised it last."""
    found = []
    trace = error.__traceback__
    while trace is not None:
        found.append(trace)
        trace = trace.tb_next
    return found


def _node_in(frame: FrameType, instruction: int) -> str:
    for name in _NAMES:
        node = _shown(frame.f_locals.get(name))
        if node and _is_worked_on(name, frame.f_code, instruction):
            return node
    return _shown(getattr(frame.f_locals.get("self"), "onnx_node", None))


def _shown(candidate: Any) -> str:
    name, kind = getattr(candidate, "name", None), getattr(candidate, "op_type", None)
    if not isinstance(name, str) or not isinstance(kind, str):
        return ""
    outputs = list(getattr(candidate, "output", ()))
    return f"'{name or (outputs[0] if outputs else '?')}' ({kind})"


def _is_worked_on(name: str, code: CodeType, instruction: int) -> bool:
    """Tell whether a local variable holds what the code is at work on; not where its source cannot be read."""
    line, _, column, _ = next(islice(code.co_positions(), instruction // 2, None))
    if line is None or column is None:
        return False
    try:
        tree = ast.parse("".join(linecache.getlines(code.co_filename)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return is_current(name, tree, code, Place(line, column))
