"""An accelerator in the logic of a board, behind AXI DMA, through PYNQ's Python API.

Written against PYNQ 3: `Overlay` and its `ip_dict`, `allocate`, the driver of AXI DMA in simple mode, `Device`. No board
was there when it was written: what is tested is that it keeps to that API, against a stand-in of it.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from brainsmith.errors import TargetError
from brainsmith.execution.foreign_failures import text_of
from brainsmith.figures import plural
from brainsmith.rtl.package.transfers import Transfer, plan_transfers

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

    from brainsmith.rtl.stitching.design import Design

    Tensors = dict[str, NDArray[np.int64]]

DMA_TYPE = "xilinx.com:ip:axi_dma:"
LENGTH_WIDTH = "c_sg_length_width"
DEFAULT_LENGTH_BITS = 14
"""Of the length register of Vivado's AXI DMA, where the overlay does not say."""

POLL = 0.0001
"""Seconds between two looks at whether a transfer has ended."""


class Board:
    """A board whose logic holds an accelerator.

    Args:
        pynq: PYNQ's module.
        bitfile: The overlay; PYNQ wants its .hwh file beside it.
        design: Of the accelerator.
        device_id: Which of PYNQ's devices.
        dma: Of each stream; by default the only one that there is.
        frames_per_packet: After how many the overlay ends a packet of an output (TLAST).
        timeout: Seconds that one packet may take.

    Raises:
        TargetError: There is no such device, the overlay cannot be loaded, or has no DMA for a stream.
    """

    def __init__(
        self,
        pynq: Any,
        bitfile: Path,
        design: Design,
        device_id: int,
        dma: Mapping[str, str] | None = None,
        frames_per_packet: int = 1,
        timeout: float = 10.0,
    ) -> None:
        self._pynq = pynq
        self._device = find_device(pynq, device_id)
        self._packet = frames_per_packet
        self._timeout = timeout
        try:
            self._overlay = pynq.Overlay(str(bitfile), device=self._device)
        except Exception as error:
            raise TargetError(f"pynq: {bitfile} cannot be loaded: {text_of(error)}") from error
        self.transfers = self._plan(design, dma)
        self._frames = min(self._most_frames(one) for one in self.transfers)
        if self._frames < frames_per_packet:
            self.close()
            raise TargetError(
                f"pynq: a packet of {frames_per_packet} frames is more than the DMA's length register holds: make it wider "
                "in Vivado (Width of Buffer Length Register), or the packets smaller"
            )
        self._buffers: dict[str, Any] = {}
        self._failed = False

    def run(self, inputs: Mapping[str, NDArray[Any]]) -> Tensors:
        """Run frames: sent as far as one transfer of the DMA reaches, received packet by packet.

        Args:
            inputs: By tensor of the design: (frames, *shape of one), whole numbers. As many frames as make whole
                packets.

        Raises:
            TargetError: The frames make no whole packets, a transfer failed, or did not end in time; after that what is
                left in the logic is not known, and nothing more is run.
        """
        if self._failed:
            raise TargetError(
                "pynq: a transfer failed before, and frames of it may be left in the logic: prepare the accelerator again"
            )
        frames = len(next(iter(inputs.values())))
        if frames % self._packet:
            raise TargetError(
                f"pynq: the overlay ends a packet after {plural(self._packet, 'frame')}, and "
                f"{plural(frames, 'frame')} are not a multiple of that"
            )
        step = self._frames // self._packet * self._packet
        parts = [
            self._pass({name: values[at : at + step] for name, values in inputs.items()})
            for at in range(0, frames, step)
        ]
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    def close(self) -> None:
        """Give the buffers and the overlay back."""
        for buffer in getattr(self, "_buffers", {}).values():
            buffer.freebuffer()
        self._buffers = {}
        self._overlay.free()

    def _pass(self, inputs: Mapping[str, NDArray[Any]]) -> Tensors:
        """Send a few frames in one transfer for each input, and receive their results."""
        frames = len(next(iter(inputs.values())))
        sent = [one for one in self.transfers if one.sends]
        received = [one for one in self.transfers if not one.sends]
        found: dict[str, list[NDArray[np.int64]]] = {one.tensor: [] for one in received}
        channels = []
        try:
            for one in received:
                self._receive(one)
            for one in sent:
                buffer = self._buffer(one, frames)
                buffer[:] = one.packed(inputs[one.tensor])
                channel = self._engine(one).sendchannel
                channel.transfer(buffer)
                channels.append((one, channel))
            packets = frames // self._packet
            for packet in range(packets):
                for one in received:
                    self._wait(one, self._engine(one).recvchannel)
                    found[one.tensor].append(one.unpacked(np.array(self._buffer(one, self._packet))))
                    if packet + 1 < packets:
                        self._receive(one)
            for one, channel in channels:
                self._wait(one, channel)
        except (RuntimeError, ValueError) as error:
            self._failed = True
            if isinstance(error, TargetError):
                raise
            raise TargetError(f"pynq: a transfer failed: {text_of(error)}") from error
        return {name: np.concatenate(parts) for name, parts in found.items()}

    def _receive(self, one: Transfer) -> None:
        self._engine(one).recvchannel.transfer(self._buffer(one, self._packet))

    def _wait(self, one: Transfer, channel: Any) -> None:
        """Wait until a channel is idle; PYNQ's own `wait` has no end, and makes what was received visible."""
        until = time.monotonic() + self._timeout
        while not channel.idle:
            if channel.error or time.monotonic() > until:
                what = "reports an error" if channel.error else f"did not end in {self._timeout:g} s"
                channel.stop()
                channel.start()
                raise TargetError(
                    f"pynq: the transfer of stream {one.stream.name} by {one.engine} {what}: the overlay must end a packet "
                    f"(TLAST) after each {plural(self._packet, 'frame')} of an output"
                )
            time.sleep(POLL)
        channel.wait()

    def _buffer(self, one: Transfer, frames: int) -> Any:
        """Return the memory of a stream, for so many frames."""
        size = frames * one.frame_bytes
        there = self._buffers.get(one.stream.name)
        if there is None or len(there) != size:
            if there is not None:
                there.freebuffer()
            there = self._pynq.allocate(shape=(size,), dtype=np.uint8, target=self._device)
            self._buffers[one.stream.name] = there
        return there

    def _engine(self, one: Transfer) -> Any:
        found = self._overlay
        for part in one.engine.split("/"):
            found = getattr(found, part)
        return found

    def _plan(self, design: Design, engines: Mapping[str, str] | None) -> tuple[Transfer, ...]:
        there = [
            name for name, ip in self._overlay.ip_dict.items() if str(ip.get("type", "")).startswith(DMA_TYPE)
        ]
        names = [stream.name for stream in (*design.inputs, *design.outputs)]
        if engines is None and len(there) == 1 and len(design.inputs) == len(design.outputs) == 1:
            engines = dict.fromkeys(names, there[0])
        chosen = dict(engines or {})
        unknown = [name for name in chosen.values() if name not in there]
        try:
            if unknown:
                raise ValueError(f"the overlay has no DMA {unknown[0]!r}")
            return plan_transfers(design, chosen)
        except ValueError as error:
            self._overlay.free()
            raise TargetError(
                f"pynq: {error}; the overlay has {', '.join(there) or 'no DMA'}\n"
                '  name them in the configuration: {"dma": {"s_axis_0": "axi_dma_0", "m_axis_0": "axi_dma_0"}}'
            ) from error

    def _most_frames(self, one: Transfer) -> int:
        parameters = self._overlay.ip_dict[one.engine].get("parameters", {})
        bits = int(parameters.get(LENGTH_WIDTH, DEFAULT_LENGTH_BITS))
        return int(((1 << bits) - 1) // one.frame_bytes)


def find_device(pynq: Any, device_id: int) -> Any:
    """Return one of PYNQ's devices.

    Raises:
        TargetError: There is no such one.
    """
    devices = list(pynq.Device.devices)
    if not 0 <= device_id < len(devices):
        raise TargetError(f"pynq: there is no device {device_id}; PYNQ finds {len(devices)}")
    return devices[device_id]
