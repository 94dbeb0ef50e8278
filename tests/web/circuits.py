"""The parts of a report that the RTL steps make."""

from __future__ import annotations

from typing import Any


def link(source: str, target: str, bits: int, depth: int, tensor: str | None) -> dict[str, Any]:
    return {
        "name": source.replace(".", "_"), "source": source, "target": target, "bits": bits, "depth": depth,
        "tensor": tensor,
    }  # fmt: skip


RTL: dict[str, Any] = {
    "frames": 360,
    "mismatches": 0,
    "stalled_frames": 1080,
    "stalled_mismatches": 0,
    "stalled_cycles": {"input": 90123, "output": 81234},
    "stalled_shares": {"input": 0.31, "output": 0.288},
    "interval_cycles": 784.25,
    "interval_estimate": 784,
    "latency_cycles": 1250,
    "latency_estimate": 1184,
    "cycles_per_second": 1234567.8,
    "accuracy": 0.9722,
    "random": False,
    "layers": [
        {"name": "Thresholding_rtl_0", "kernel": "Thresholding_rtl", "frames": 4, "values": 256, "wrong": 0},
        {"name": "MVAU_rtl_0", "kernel": "MVAU_rtl", "frames": 4, "values": 256, "wrong": 0},
    ],
    "sizing": {"gauge_bits": 288, "simulations": 12, "seconds": 1.5, "minimal": True},
    "fifos": [
        {
            "name": "Thresholding_rtl_0_out0_V", "from": "Thresholding_rtl_0.out0_V", "to": "MVAU_rtl_0.in0_V",
            "bits": 32, "depth": 7, "gauge": 9, "total_bits": 224,
        },
        {
            "name": "s_axis_0", "from": "s_axis_0", "to": "Thresholding_rtl_0.in0_V",
            "bits": 8, "depth": 2, "gauge": None, "total_bits": 16,
        },
    ],
    "design": {
        "top": "finn_design",
        "layers": [
            {"name": "Thresholding_rtl_0", "kernel": "Thresholding_rtl", "module": "T0", "cycles": 16},
            {"name": "MVAU_rtl_0_memory", "kernel": "memstream", "module": "M0", "cycles": 0},
            {"name": "MVAU_rtl_0", "kernel": "MVAU_rtl", "module": "V0", "cycles": 784},
        ],
        "links": [
            link("s_axis_0", "Thresholding_rtl_0.in0_V", 8, 2, "x"),
            link("Thresholding_rtl_0.out0_V", "MVAU_rtl_0.in0_V", 32, 7, "t"),
            link("MVAU_rtl_0_memory.m_axis_0", "MVAU_rtl_0.in1_V", 24, 0, None),
            link("MVAU_rtl_0.out0_V", "m_axis_0", 16, 0, "y"),
        ],
        "inputs": [{"name": "s_axis_0", "bits": 8, "tensor": "x", "shape": [1, 64]}],
        "outputs": [{"name": "m_axis_0", "bits": 16, "tensor": "y", "shape": [1, 10]}],
    },
}  # fmt: skip
SYNTHESIS: dict[str, Any] = {
    "family": "xcup",
    "tool": "Yosys 0.70",
    "lut": 4312, "lutram": 64, "ff": 5120, "bram18": 3, "uram": 2, "dsp": 8,
    "notes": ["a shallow FIFO counts as flip-flops"],
    "clock": {
        "target_mhz": 200.0, "fmax_mhz": 355.9, "to_mvau": 0.75, "ns": 2.81, "levels": 6, "start": "MVAU_rtl_0.a[0]",
        "end": "MVAU_rtl_0.b[1]", "layer": "MVAU_rtl_0", "kernel": "MVAU_rtl", "own": False, "warnings": [],
    },
    "place": {
        "device": "ecp5-85k", "fmax_mhz": 61.4, "lut": 5210, "ff": 4821, "bram": 6, "dsp": 12, "seconds": 214.5,
    },
    "layers": [
        {
            "name": "MVAU_rtl_0", "kernel": "MVAU_rtl", "lut": 810, "lutram": 0, "ff": 1239, "bram18": 0, "uram": 0,
            "dsp": 8, "estimate": {"lut": None, "ff": 1301, "bram18": 11, "dsp": 16}, "seconds": 7.2,
            "path": {"ns": 2.5, "levels": 5, "fmax_mhz": 400.0, "to_mvau": 0.84, "start": "a[0]", "end": "b[1]"},
        },
        {
            "name": "MVAU_rtl_0_memory", "kernel": "memstream", "lut": 500, "lutram": 64, "ff": 99, "bram18": 3,
            "uram": 2, "dsp": 0, "estimate": {}, "seconds": 1.8,
        },
    ],
    "fifos": [
        {
            "name": "s_axis_0", "bits": 8, "depth": 2, "lut": 9, "lutram": 8, "ff": 7, "bram18": 0, "uram": 0,
            "dsp": 0,
        },
    ],
}  # fmt: skip
