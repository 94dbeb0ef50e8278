"""Feed the golden inputs with random pauses at all ends, and compare every frame with the golden outputs.

Variables of the environment: FRAMES (all golden ones by default), SEED (1), PAUSES (0.3: the share of cycles in which
an end stalls; 0 for none).
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.triggers import ReadOnly, RisingEdge, with_timeout

PACKAGE = Path(__file__).resolve().parent.parent
DESIGN = json.loads((PACKAGE / "design.json").read_text(encoding="utf-8"))
FRAMES = int(os.environ.get("FRAMES", "0"))
SEED = int(os.environ.get("SEED", "1"))
PAUSES = float(os.environ.get("PAUSES", "0.3"))
CLOCK_NS = 10


def golden(stream: dict[str, Any]) -> np.ndarray[Any, Any]:
    """Return a stream's golden values, one row per beat, and only those of the frames that are tested."""
    frames: np.ndarray[Any, Any] = np.load(PACKAGE / "golden" / f"{stream['name']}.npy")
    return frames[: FRAMES or None].reshape(-1, stream["layout"]["lanes"])


def word(lanes: np.ndarray[Any, Any], layout: dict[str, Any]) -> int:
    """Return the lanes of a beat as one number: the first lies in the lowest bits, in two's complement."""
    mask = (1 << layout["lane_bits"]) - 1
    if layout["bipolar"]:
        lanes = lanes > 0
    return sum((int(lane) & mask) << (at * layout["lane_bits"]) for at, lane in enumerate(lanes))


def beats_per_frame(layout: dict[str, Any]) -> int:
    """Return how many beats a frame of a stream has."""
    return int(np.prod(layout["shape"])) // int(layout["lanes"])


async def feed(dut: Any, stream: dict[str, Any], seed: int) -> None:
    """Offer all beats of an input; one that was offered stays until it is taken."""
    pauses = random.Random(seed)
    data, valid, ready = (getattr(dut, f"{stream['name']}_{kind}") for kind in ("tdata", "tvalid", "tready"))
    for lanes in golden(stream):
        while pauses.random() < PAUSES:
            await RisingEdge(dut.ap_clk)
        data.value, valid.value = word(lanes, stream["layout"]), 1
        await taken(dut, valid, ready)
        valid.value = 0


async def collect(dut: Any, stream: dict[str, Any], seed: int) -> None:
    """Take all beats of an output and compare each with the golden one."""
    pauses, layout = random.Random(seed), stream["layout"]
    data, valid, ready = (getattr(dut, f"{stream['name']}_{kind}") for kind in ("tdata", "tvalid", "tready"))
    mask, each = (1 << layout["lanes"] * layout["lane_bits"]) - 1, beats_per_frame(layout)
    for beat, lanes in enumerate(golden(stream)):
        ready.value = 0
        while pauses.random() < PAUSES:
            await RisingEdge(dut.ap_clk)
        ready.value = 1
        found = await taken(dut, valid, ready, data)
        expected = word(lanes, layout)
        assert found & mask == expected, (
            f"frame {beat // each}, beat {beat % each} of {stream['name']}: "
            f"0x{found & mask:x}, and 0x{expected:x} is golden"
        )
    ready.value = 0


async def taken(dut: Any, valid: Any, ready: Any, data: Any = None) -> int:
    """Wait until a beat moves; return it, if its port is given."""
    while True:
        await ReadOnly()
        moves = int(valid.value) == 1 and int(ready.value) == 1
        found = int(data.value) if moves and data is not None else 0
        await RisingEdge(dut.ap_clk)
        if moves:
            return found


@cocotb.test()
async def all_frames_are_golden(dut: Any) -> None:
    """Reset, then feed and collect at all ends until every beat has moved."""
    Clock(dut.ap_clk, CLOCK_NS, unit="ns").start()
    for stream in DESIGN["inputs"]:
        getattr(dut, f"{stream['name']}_tvalid").value = 0
        getattr(dut, f"{stream['name']}_tdata").value = 0
    for stream in DESIGN["outputs"]:
        getattr(dut, f"{stream['name']}_tready").value = 0
    dut.ap_rst_n.value = 0
    for _ in range(16):
        await RisingEdge(dut.ap_clk)
    dut.ap_rst_n.value = 1
    await RisingEdge(dut.ap_clk)
    ends = [cocotb.start_soon(feed(dut, one, SEED + at)) for at, one in enumerate(DESIGN["inputs"])]
    ends += [cocotb.start_soon(collect(dut, one, SEED - 1 - at)) for at, one in enumerate(DESIGN["outputs"])]
    frames = min(len(golden(one)) // beats_per_frame(one["layout"]) for one in DESIGN["outputs"])
    for end in ends:
        await with_timeout(end, time_limit(frames), "ns")
    dut._log.info("%d frames are golden", frames)


def time_limit(frames: int) -> int:
    """Return after how many nanoseconds a design counts as stuck: a hundred times its estimated time."""
    cycles = sum(int(layer["cycles"]) for layer in DESIGN["layers"])
    return round(100 * CLOCK_NS * (frames + 1) * (cycles + 1000) / (1 - PAUSES))
