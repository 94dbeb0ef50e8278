"""The tape: what was computed from what, and the way back through it.

There is no list of steps: each Tensor knows the record that made it, and a record its inputs. So two threads that
record at once do not meet, and what nobody holds any more is freed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.autodiff.op import backward_error, failure
from brainsmith.errors import BrainsmithError, GradientError
from brainsmith.forks import lock_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainsmith.autodiff.op import Array, Constants, Op
    from brainsmith.autodiff.tape.tensor import Tensor

clock = count(1)
"""Numbers records and changes in the order in which they happen, over all threads."""

_leaves = lock_of()
"""Held while gradients are added to Tensors, which threads may share."""


@dataclass(slots=True, weakref_slot=True, eq=False, repr=False)
class Record:
    """One call of an op on the tape.

    Attributes:
        op: What was called.
        inputs: The Tensors that it was given; constants among them were made Tensors. Empty once released.
        attributes: Those of the call, the op's defaults among them.
        arrays: The values of the inputs.
        outputs: The values that it gave, one or several. The Tensor of each has this `record` and its `position`.
        serial: Greater than that of every record before it.
        released: Whether a backward() went through it, and released what it held.
    """

    op: Op
    inputs: tuple[Tensor, ...]
    attributes: Mapping[str, Any]
    arrays: tuple[Array, ...]
    outputs: tuple[Array, ...]
    serial: int = field(default_factory=clock.__next__)
    released: bool = False

    def release(self) -> None:
        """Release inputs and values."""
        self.inputs = self.arrays = self.outputs = ()
        self.released = True

    def __repr__(self) -> str:
        return f"<record {self.serial} of {self.op.name}>"


def run_backward(root: Tensor, grad: Array, keep_graph: bool) -> None:
    """Add the gradients of a Tensor to all leaves that it was computed from and that require one.

    Records are visited in the order of their serials, the last first: when it is a record's turn, everything that
    was computed from its outputs has had its turn. If anything fails, no gradient was added anywhere.

    Raises:
        GradientError: An op has no gradient or a wrong one; a value was changed; the graph was released.
    """
    walk = _Walk()
    walk.add(root, grad)
    with np.errstate(all="ignore"):  # an infinite gradient is a result; it shows in `.grad`
        visited = walk.run()
    with _leaves:
        for leaf, gradient in walk.leaves.values():
            leaf.grad = gradient.copy() if leaf.grad is None else leaf.grad + gradient
    if not keep_graph:
        for record in visited:
            record.release()


def _changed_message(op: Op, at: int) -> str:
    return (
        f"input {at} of operation {op.name!r} was changed in place after it was used, so its gradient "
        "would be of other values; change it after backward(), or use a copy"
    )


def _gradients(record: Record, output: Any, grad_output: Any, needed: list[bool]) -> Constants:
    """Ask an op for its gradients.

    What it is given may be the gradient of other Tensors too, so an op that is not known to leave it alone gets it
    read-only.
    """
    op = record.op
    try:
        function = op.create_gradient_function(record.arrays, output, **record.attributes)
    except GradientError as error:
        raise GradientError(f"{error}; to stop the gradient before it, give it x.detach()") from None
    except Exception as error:  # an op may have one of its own: whatever it raises names the op
        raise backward_error(op, failure([x.shape for x in record.arrays], error)) from error
    if not op.trusted:
        for array in (grad_output,) if op.num_outputs == 1 else grad_output:
            array.flags.writeable = False
    try:
        return function.gradients(grad_output, needed)
    except BrainsmithError:
        raise
    except Exception as error:  # what an op's own gradient function raises names the op
        raise backward_error(op, failure([x.shape for x in record.arrays], error)) from error


class _Walk:
    """What one backward() knows on its way."""

    def __init__(self) -> None:
        self.leaves: dict[int, tuple[Tensor, Array]] = {}
        self.waiting: list[tuple[int, Record]] = []
        self.gradients: dict[int, list[Array | None]] = {}

    def run(self) -> list[Record]:
        """Visit all records; return them."""
        visited = []
        while self.waiting:
            record = heappop(self.waiting)[1]
            visited.append(record)
            self.visit(record, self.gradients.pop(record.serial))
        return visited

    def visit(self, record: Record, given: list[Array | None]) -> None:
        """Hand the gradients of a record's outputs on to its inputs."""
        op, inputs = record.op, record.inputs
        needed = []
        for at, tensor in enumerate(inputs):
            if tensor.changed > record.serial:
                raise GradientError(_changed_message(op, at))
            needed.append(tensor.tracked)
        whole: Any
        output: Any
        if op.num_outputs == 1:
            whole, output = given[0], record.outputs[0]
        else:
            output = record.outputs
            whole = tuple(
                np.zeros_like(value) if gradient is None else gradient
                for gradient, value in zip(given, record.outputs, strict=True)
            )
        found = _gradients(record, output, whole, needed)
        for tensor, gradient in zip(inputs, found, strict=True):
            if gradient is not None and tensor.tracked:
                self.add(tensor, gradient)

    def add(self, tensor: Tensor, gradient: Array) -> None:
        """Note a gradient of a Tensor; several are added up."""
        record = tensor.record
        if record is None:
            known = self.leaves.get(id(tensor))
            self.leaves[id(tensor)] = (tensor, gradient if known is None else known[1] + gradient)
            return
        if record.released:
            raise GradientError(
                f"the record of operation {record.op.name!r} was released by an earlier "
                "backward(); to go through it twice, call the first one with keep_graph=True"
            )
        held = self.gradients.get(record.serial)
        if held is None:
            held = self.gradients[record.serial] = [None] * len(record.outputs)
            heappush(self.waiting, (-record.serial, record))
        before = held[tensor.position]
        held[tensor.position] = gradient if before is None else before + gradient
