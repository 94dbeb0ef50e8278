"""Frames of an accelerator as bytes in memory, as a DMA sends and receives them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.rtl.verification.design_runs import layout_values, layout_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from brainsmith.rtl.stitching.design import Design, DesignStream


@dataclass(frozen=True)
class Transfer:
    """One stream of a design, and the engine that serves it.

    Attributes:
        stream: Of the design.
        sends: Whether it is an input of the design.
        engine: The DMA's name in the overlay.
    """

    stream: DesignStream
    sends: bool
    engine: str

    @property
    def tensor(self) -> str:
        """The tensor that the stream carries."""
        return self.stream.layout.tensor

    @property
    def frame_bytes(self) -> int:
        """How many bytes one frame has: its beats one after the other, each of whole bytes."""
        return self.stream.layout.beats * (self.stream.bits // 8)

    def packed(self, frames: NDArray[Any]) -> NDArray[np.uint8]:
        """Return frames (frames, *shape of one) as the bytes that are sent.

        Raises:
            ValueError: Values are not whole, or do not fit.
        """
        return layout_words(self.stream.layout, self.stream.bits, frames).reshape(-1)

    def unpacked(self, data: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Return bytes that were received as frames (frames, *shape of one)."""
        frames = len(data) // self.frame_bytes
        words = np.asarray(data).reshape(-1, self.stream.bits // 8)
        return layout_values(self.stream.layout, words, frames)


def plan_transfers(design: Design, engines: dict[str, str]) -> tuple[Transfer, ...]:
    """Return what is transferred for a design.

    Args:
        design: Of the accelerator.
        engines: The DMA of each stream, by the stream's name.

    Raises:
        ValueError: A stream has no engine, or there is no such stream.
    """
    names = [stream.name for stream in (*design.inputs, *design.outputs)]
    if set(engines) != set(names):
        raise ValueError(f"each stream needs a DMA, {', '.join(names)}, not {', '.join(engines) or 'none'}")
    return tuple(
        Transfer(stream, sends, engines[stream.name])
        for streams, sends in ((design.inputs, True), (design.outputs, False))
        for stream in streams
    )
