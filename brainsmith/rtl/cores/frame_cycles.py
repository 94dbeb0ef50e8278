"""Cycles from frame to frame of a layer; those of FINN's sliding window in RTL are counted as its controller moves."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Any, NamedTuple

WINDOW = "ConvolutionInputGenerator_rtl"
"""FINN's sliding window in RTL."""


@dataclass
class _Frame:
    """One frame in FINN's buffer, while every beat is there when it is asked for, and taken when it is given.

    Each cycle reads one element (a beat of the image) if its place is free, and fetches one that was read before. What
    lies before the next window may be overwritten as soon as a window has begun; windows are nested loops, of
    which each turn takes as long as one before that reading was as far ahead of.

    Attributes:
        elements: Of the image.
        places: Of the buffer.
        order: The elements of a window, or, of a depthwise one, of one fold of its channels, from its first one on.
        loops: How many turns, and elements from one to the next, the outermost loop first.
        cycle: How many have passed.
        read: How many elements were read.
        read_at: The cycle in which the last one was read.
        known: Cycles and elements read, by loop and by what they depend on: how far reading is ahead of its first
            element, and where the next begins.
    """

    elements: int
    places: int
    order: list[int]
    loops: list[tuple[int, int]]
    cycle: int = 0
    read: int = 0
    read_at: int = 0
    known: dict[tuple[int, int, int], tuple[int, int]] = field(default_factory=dict)

    def fetch(self, depth: int, start: int, following: int) -> None:
        """Fetch what a loop does from an element on; the first element after it that is needed is the following."""
        if self.read == self.elements:
            self.cycle += len(self.order) * prod(count for count, _ in self.loops[depth:])
            return
        key = (depth, self.read - start, following - start)
        steady = following + self.places < self.elements  # reading does not end in it
        if steady and key in self.known:
            cycles, read = self.known[key]
            self.cycle, self.read = self.cycle + cycles, self.read + read
            return
        cycle, read = self.cycle, self.read
        if depth == len(self.loops):
            self._step(start, following)
        else:
            count, by = self.loops[depth]
            for at in range(count):
                behind = start + (at + 1) * by if at + 1 < count else following
                self.fetch(depth + 1, start + at * by, behind)
        if steady:
            self.known[key] = self.cycle - cycle, self.read - read

    def _step(self, start: int, following: int) -> None:
        """Count the cycles of the elements in order."""
        kept = start
        for offset in self.order:
            wanted, fetched = start + offset, False
            while not fetched:
                fetched = wanted < self.read
                if self.read < self.elements and self.read < min(kept, wanted) + self.places:
                    self.read += 1
                    self.read_at = self.cycle
                self.cycle += 1
            kept = following

    def end(self) -> int:
        """Return the cycles of the whole frame: its last element is given, and what is left of it is read."""
        left = self.elements - self.read
        return max(self.cycle, self.cycle + left - 1 if left else self.read_at) + 1


class WindowReads(NamedTuple):
    """What FINN's sliding window reads of a frame: as `_Frame` says, and `final` is the element behind its last window."""

    elements: int
    places: int
    order: list[int]
    loops: list[tuple[int, int]]
    final: int


def window_reads(window: Any) -> WindowReads:
    """Return what FINN's sliding window in RTL reads of a frame, where it fetches one element after the other.

    Args:
        window: QONNX's instance of a `ConvolutionInputGenerator_rtl`.
    """
    (high, wide), (rows, columns) = window.get_nodeattr("IFMDim"), window.get_nodeattr("OFMDim")
    (down, across), (tall, broad) = window.get_nodeattr("Stride"), window.get_nodeattr("ConvKernelDim")
    by_row, by_column = window.get_nodeattr("Dilation")
    folds = window.get_nodeattr("IFMChannels") // window.get_nodeattr("SIMD")
    turns = folds if window.get_nodeattr("depthwise") else 1
    order = [
        (row * by_row * wide + column * by_column) * folds + fold
        for row in range(tall)
        for column in range(broad)
        for fold in range(folds // turns)
    ]
    loops = [(rows, down * wide * folds), (columns, across * folds), (turns, 1)]
    span = ((tall - 1) * by_row * wide + (broad - 1) * by_column + 1) * folds
    final = sum((count - 1) * by for count, by in loops) + span - 1
    return WindowReads(high * wide * folds, window.get_buffer_depth(), order, loops, final)


def parallel_ends(window: Any) -> tuple[int, list[int]]:
    """Return the elements of a frame of a parallel sliding window, and with which of them each window is whole.

    Args:
        window: QONNX's instance of a `ConvolutionInputGenerator_rtl`.
    """
    (high, wide), (rows, columns) = window.get_nodeattr("IFMDim"), window.get_nodeattr("OFMDim")
    (down, across), (tall, broad) = window.get_nodeattr("Stride"), window.get_nodeattr("ConvKernelDim")
    by_row, by_column = window.get_nodeattr("Dilation")
    folds = window.get_nodeattr("IFMChannels") // window.get_nodeattr("SIMD")
    ends = [
        ((row * down + (tall - 1) * by_row) * wide + column * across + (broad - 1) * by_column) * folds + fold
        for row in range(rows)
        for column in range(columns)
        for fold in range(folds)
    ]
    return high * wide * folds, ends


def frame_cycles(layer: Any) -> int:
    """Return the cycles from frame to frame of a layer, when nothing waits for its neighbours.

    They are what its backend says, except for FINN's sliding window, whose own estimate is off by up to a third.

    Args:
        layer: QONNX's instance of a node.
    """
    counted = layer.onnx_node.op_type == WINDOW and not layer.get_nodeattr("dynamic_mode")
    return window_cycles(layer) if counted else int(layer.get_exp_cycles())


def window_cycles(window: Any) -> int:
    """Return the cycles from frame to frame of FINN's sliding window in RTL, when nothing waits for its neighbours.

    Frames do not overlap in its buffer, so the first fill is part of each. FINN's own estimate is near it, on either
    side. The source is FINN's circuit: `swg_template_default.sv` and `swg_template_parallel.sv`.

    Args:
        window: QONNX's instance of a `ConvolutionInputGenerator_rtl`.
    """
    if window.select_impl_style() == "parallel":
        elements, ends = parallel_ends(window)
        return elements + (ends[-1] == elements - 1)  # the last window is given after the last element
    reads = window_reads(window)
    frame = _Frame(reads.elements, reads.places, reads.order, reads.loops)
    frame.fetch(0, 0, reads.final)
    return frame.end()
