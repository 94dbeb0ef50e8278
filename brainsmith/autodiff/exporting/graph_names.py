"""The names of an exported graph: the user's where there are any, else ones that follow from what is named."""

from __future__ import annotations

from inspect import Parameter, signature
from typing import TYPE_CHECKING

from brainsmith.autodiff.exporting.walk import Key, key_of
from brainsmith.errors import OpError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brainsmith.autodiff.op import Op
    from brainsmith.autodiff.tape.tensor import Tensor


class GraphNames:
    """Hands out names of tensors and of nodes; no two tensors and no two nodes have the same.

    Args:
        given: What the user names, by name, in the order of precedence; a Tensor keeps the first name it has.

    Raises:
        OpError: A name is given to two Tensors.
    """

    def __init__(self, *given: Mapping[str, Tensor]) -> None:
        self._names: dict[Key, str] = {}
        owners: dict[str, Key] = {}
        for named in given:
            for name, tensor in named.items():
                key = key_of(tensor)
                if owners.setdefault(name, key) != key:
                    raise OpError(f"the name {name!r} is given to two Tensors of an export")
                self._names.setdefault(key, name)
        self._tensors = set(owners)
        self._nodes: set[str] = set()

    def given(self, key: Key) -> str | None:
        """Return the name of a value, if it has one already."""
        return self._names.get(key)

    def node(self, wanted: str) -> str:
        """Return a name for a node: the one that is wanted, or that with a number."""
        return _free(wanted, self._nodes)

    def tensor(self, key: Key | None, wanted: str) -> str:
        """Return the name of a value; a new one is the one that is wanted, or that with a number."""
        if key is not None and key in self._names:
            return self._names[key]
        name = _free(wanted, self._tensors)
        if key is not None:
            self._names[key] = name
        return name


def _free(wanted: str, taken: set[str]) -> str:
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}_{number}"
    taken.add(name)
    return name


def input_names(op: Op, count: int) -> list[str]:
    """Return what an op calls its inputs: `scale`, `zero_point`; `input_1` where it does not say."""
    kinds = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    named = [name for name, parameter in signature(op.forward).parameters.items() if parameter.kind in kinds]
    return [named[at] if at < len(named) else f"input_{at}" for at in range(count)]
