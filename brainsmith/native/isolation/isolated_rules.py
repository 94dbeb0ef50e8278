"""The rules of an operation that a worker runs: asked once, and remembered."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from brainsmith.native.isolation import channel as ch
from brainsmith.native.rules import Rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.autodiff.op import Shape
    from brainsmith.native.isolation.isolated_op import IsolatedOp

_MOST_ANSWERS = 1024


class IsolatedRules(Rules):
    """Have the worker call an operation's rules. Answers hang on nothing else, as the interface says."""

    _op: IsolatedOp

    def _has(self, rule: str) -> bool:
        return bool(self._op.table[rule])

    def _ask_shapes(self, shapes: Sequence[Shape]) -> list[Any]:
        return self._answer(ch.SHAPES, tuple((0, shape) for shape in shapes), "output_shape")

    def _ask_dtypes(self, codes: Sequence[int]) -> list[Any]:
        return self._answer(ch.DTYPES, tuple((code, None) for code in codes), "output_dtype")

    def _ask_devices(self, devices: Sequence[str]) -> list[Any]:
        return self._answer(ch.DEVICES, tuple((device, None) for device in devices), "output_device")

    def _answer(self, command: int, signature: tuple[Any, ...], what: str) -> list[Any]:
        key = (command, signature)
        found = self._op.answers.get(key)
        if found is None:
            found = json.loads(
                self._op.worker.ask(self._op, (command, self._op.number, signature, ()), (), what)
            )
            if len(self._op.answers) >= _MOST_ANSWERS:
                self._op.answers.clear()
            self._op.answers[key] = found
        return found
