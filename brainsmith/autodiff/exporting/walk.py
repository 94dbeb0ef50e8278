"""What was recorded between the inputs and the outputs of a computation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from brainsmith.autodiff.tape.tensor import Tensor
from brainsmith.errors import OpError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainsmith.autodiff.tape.tape import Record

Key = tuple[int, int]
"""What tells the values of a recorded computation apart."""


def key_of(tensor: Tensor) -> Key:
    """Return the key of a Tensor: record and position of one that was computed, itself of any other."""
    if tensor.record is not None:
        return tensor.record.serial, tensor.position
    return 0, id(tensor)


def named_tensors(what: str, given: Any) -> dict[str, Tensor]:
    """Return Tensors by name: of a dict, else named after what they are (`input`, or `input_0`, `input_1`, ...).

    Raises:
        OpError: They are no Tensors, or a name is no text.
    """
    if isinstance(given, Tensor):
        given = {what: given}
    elif isinstance(given, list | tuple):
        given = {f"{what}_{at}" if len(given) > 1 else what: tensor for at, tensor in enumerate(given)}
    if not isinstance(given, dict) or not given:
        raise OpError(f"{what}s of an export must be Tensors, by name or in a list, not {given!r}")
    for name, tensor in given.items():
        if not isinstance(name, str) or not name:
            raise OpError(f"the name of an {what} of an export must be a string, not {name!r}")
        if not isinstance(tensor, Tensor):
            raise OpError(f"{what} {name!r} of an export must be a Tensor, not {type(tensor).__name__}")
    return dict(given)


def check_apart(inputs: Mapping[str, Tensor]) -> None:
    """Raise if two inputs are the same Tensor.

    Raises:
        OpError: Names both.
    """
    seen: dict[Key, str] = {}
    for name, tensor in inputs.items():
        first = seen.setdefault(key_of(tensor), name)
        if first != name:
            raise OpError(f"inputs {first!r} and {name!r} of an export are one Tensor")


def records_between(inputs: Mapping[str, Tensor], outputs: Mapping[str, Tensor]) -> list[Record]:
    """Return the records that the outputs were computed by, in the order of the computation, up to the inputs.

    Raises:
        OpError: An input is not reached, an output was not recorded, the records were released, or a value that a
            record read was changed since.
    """
    ends = {key_of(tensor) for tensor in inputs.values()}
    for name, tensor in outputs.items():
        if tensor.record is None and key_of(tensor) not in ends:
            raise OpError(
                f"output {name!r} was not recorded: compute it from Tensors, outside of no_grad() and without detach()"
            )
    found: dict[int, Record] = {}
    reached: set[Key] = set()
    waiting: list[Tensor] = list(outputs.values())
    while waiting:
        tensor = waiting.pop()
        key = key_of(tensor)
        reached.add(key)
        record = tensor.record
        if key in ends or record is None or record.serial in found:
            continue
        if record.released:
            raise OpError(
                f"the record of operation {record.op.name!r} was released by backward(): export before it, "
                "or call it with keep_graph=True"
            )
        _check_unchanged(record, ends)
        found[record.serial] = record
        waiting.extend(record.inputs)
    for name, tensor in inputs.items():
        if key_of(tensor) not in reached:
            raise OpError(f"input {name!r} is not used: no output was computed from this Tensor")
    return [found[serial] for serial in sorted(found)]


def _check_unchanged(record: Record, ends: set[Key]) -> None:
    """Raise if a constant that a record read was changed in place since, as an optimiser's step changes parameters.

    What is replaced (`x.data = ...`) is no matter: the record has what it read. Nor is an input of the graph.
    """
    for at, tensor in enumerate(record.inputs):
        if tensor.changed > record.serial and key_of(tensor) not in ends:
            raise OpError(
                f"input {at} of operation {record.op.name!r} was changed in place after it was used (by an optimiser's "
                "step?), so the model would differ from what was computed: compute the result again, and "
                "export that"
            )
