"""Rewritten models on disk, by the content of what was rewritten: a second process needs neither ONNX nor QONNX."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brainsmith.execution.foreign_code import foreign_code
from brainsmith.execution.standard_onnx.standard_model import StandardModel
from brainsmith.settings import cache_dir, qonnx_rounding
from brainsmith.store.computed import Computed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

KIND = "onnxruntime"
"""The folder in the cache folder."""

ROOTS = ("brainsmith.execution.*",)
"""What rewrites, beside the operators of a model."""


def obtain(
    content: str,
    make: Callable[[], StandardModel],
    lasts: Callable[[], bool] = lambda: True,
    modules: Callable[[], Iterable[str]] = tuple,
) -> StandardModel:
    """Return the rewritten form of a model, which is made if it is not on disk.

    Where nothing can be written, it is made each time.

    Args:
        content: Stands for the original model's content.
        make: Rewrites it. What it raises leaves nothing behind.
        lasts: Asked once it is made: whether it may be kept, because it depends on nothing that may change unseen.
        modules: Asked then too: where the operators of the original model are defined.
    """
    kept = Computed(cache_dir(), KIND, f"{content}|{qonnx_rounding()}|{foreign_code()}", ROOTS)
    if (found := kept.load()) is not None:
        return StandardModel.of_plain(found)
    made = make()
    if lasts():
        kept.save(made.to_plain(), modules())
    return made
