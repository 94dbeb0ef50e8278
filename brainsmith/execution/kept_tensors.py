"""Which tensors inside a model `keep` names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from brainsmith.execution.signature import ModelSignature
    from brainsmith.graph.array_types import Array


def chosen_tensors(
    keep: Iterable[str] | None, there: Collection[str], ends: Iterable[str]
) -> tuple[str, ...]:
    """Return the tensors that are to be returned beside the outputs, each once, in the order in which they are named.

    Args:
        keep: As `Target.execute` takes it; None for all. A text is one name.
        there: The tensors that can be kept.
        ends: Inputs and outputs, which may be named too and change nothing where they are not among these.

    Raises:
        InputError: There is no such tensor; all are listed.
    """
    if keep is None:
        return tuple(there)
    named = (keep,) if isinstance(keep, str) else tuple(dict.fromkeys(keep))
    known = {*there, *ends}
    if unknown := [name for name in named if name not in known]:
        raise InputError(f"there is no tensor {unknown[0]!r} to keep; the tensors are {', '.join(there)}")
    return tuple(name for name in named if name in there)


def joined_tensors(
    signature: ModelSignature, stacks: Mapping[str, Array], kept: Iterable[str]
) -> dict[str, Array]:
    """Return the outputs among stacks (runs, *shape), and then what is kept, with the runs in their first axes."""
    return {
        **signature.joined(stacks),
        **{name: stacks[name].reshape(-1, *stacks[name].shape[2:]) for name in kept},
    }
