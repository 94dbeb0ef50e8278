"""Writes the nodes of the standard graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.graph.array_types import Array

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


_MARK = "~"
"""Parts the name of a tensor that is new from that of the tensor for which it is computed."""


class Emitter:
    """Nodes and constants of a graph that is being written.

    Args:
        opset: Version of the standard operators, 11 or later.
        taken: Names that tensors of the graph have already.
    """

    def __init__(self, opset: int, taken: Iterable[str]) -> None:
        self.opset = opset
        self.nodes: list[Any] = []
        self.constants: dict[str, Array] = {}
        self._taken = set(taken)
        self._names: set[str] = set()
        self._known: dict[tuple[str, tuple[int, ...], bytes], str] = {}

    def fresh(self, hint: str) -> str:
        """Return a tensor name that is not in use, made of one that is."""
        at = 1
        while f"{hint}{_MARK}{at}" in self._taken:
            at += 1
        self._taken.add(f"{hint}{_MARK}{at}")
        return f"{hint}{_MARK}{at}"

    def constant(self, value: Any, hint: str, dtype: Any = np.float32) -> str:
        """Return the name of a constant; equal ones are stored once."""
        array = np.ascontiguousarray(value, dtype).reshape(np.shape(value))
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._known:
            self._known[key] = self.fresh(hint)
            self.constants[self._known[key]] = array
        return self._known[key]

    def add(self, op_type: str, inputs: Sequence[str], output: str = "", **attributes: Any) -> str:
        """Write a node with one output, and return the output's name: a new one if none is given."""
        output = output or self.fresh(inputs[0])
        self.add_several(op_type, inputs, [output], **attributes)
        return output

    def add_several(
        self, op_type: str, inputs: Sequence[str], outputs: Sequence[str], **attributes: Any
    ) -> None:
        """Write a node with several outputs."""
        from onnx import helper

        name = f"{op_type}{_MARK}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, list(inputs), list(outputs), name=name, **attributes))

    def copy(self, node: Any) -> None:
        """Write a node that is a standard one already; ONNX Runtime takes no name twice."""
        written = type(node)()
        written.CopyFrom(node)
        if written.name in self._names:
            written.name = ""
        self._names.add(written.name)
        self.nodes.append(written)

    def sent_through(self, name: str, op_type: str) -> str:
        """Let a tensor that was just written pass one more operator and keep its name; return what passes it."""
        before = self.fresh(name)
        for node in reversed(self.nodes):
            if name in node.output:
                node.output[list(node.output).index(name)] = before
                break
        self.add(op_type, [before], name)
        return before

    def sum_over(self, x: str, axes: Sequence[int], output: str = "", *, keep: bool) -> str:
        """Write a sum over axes."""
        return self._reduced("ReduceSum", 13, x, axes, output, keep)

    def maximum_over(self, x: str, axes: Sequence[int], output: str = "", *, keep: bool) -> str:
        """Write a maximum over axes."""
        return self._reduced("ReduceMax", 18, x, axes, output, keep)

    def _reduced(self, op_type: str, since: int, x: str, axes: Sequence[int], output: str, keep: bool) -> str:
        """Write a reduction of axes, which are an attribute before an opset, and an input since."""
        if self.opset < since:
            return self.add(op_type, [x], output, axes=list(axes), keepdims=int(keep))
        return self.add(op_type, [x, self.constant(axes, "axes", np.int64)], output, keepdims=int(keep))

    def at_least(self, x: str, bound: str) -> str:
        """Write x >= bound, which no NaN is."""
        if self.opset >= 12:
            return self.add("GreaterOrEqual", [x, bound])
        return self.add("Or", [self.add("Greater", [x, bound]), self.add("Equal", [x, bound])])

    def reshaped(self, x: str, shape: Sequence[int], output: str = "") -> str:
        """Write a reshape to a shape of one run; the first axis takes whatever number of runs there are."""
        size = int(np.prod(shape[1:], dtype=np.int64))
        first = -1 if shape and size else 0
        target = [first, *shape[1:]] if shape else []
        return self.add("Reshape", [x, self.constant(target, "shape", np.int64)], output)

    def looked_up(self, table: Array, index: str, shape: Sequence[int], output: str = "") -> str:
        """Write table[index] for a vector of values and an int32 tensor of a shape of one run.

        Not as a Gather, which takes five times as long for single values.
        """
        flat = self.add("Reshape", [index, self.constant([-1], "shape", np.int64)])
        found = self.add("GatherElements", [self.constant(table, "table", table.dtype), flat], axis=0)
        return self.reshaped(found, shape, output)

    def affine(self, x: str, scale: float, bias: float, output: str = "") -> str:
        """Write scale * x + bias in float32, in two steps, each of which rounds."""
        steps = [("Mul", scale)] * (scale != 1) + [("Add", bias)] * (bias != 0)
        if not steps:
            return self.add("Identity", [x], output) if output else x
        for at, (op_type, value) in enumerate(steps):
            last = at == len(steps) - 1
            x = self.add(op_type, [x, self.constant(value, "scalar")], output if last else "")
        return x
