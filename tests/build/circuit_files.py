"""A build's folder with what the RTL steps leave in it."""

import json

X = {"tensor": "x", "shape": [1, 64], "lanes": 1, "lane_bits": 8, "signed": False}
Y = {"tensor": "y", "shape": [1, 10], "lanes": 1, "lane_bits": 13, "signed": True}
DESIGN = {
    "format": 1,
    "top": "finn_design",
    "layers": [
        {"name": "Thresholding_rtl_0", "module": "T0", "kernel": "Thresholding_rtl", "cycles": 64},
        {"name": "MVAU_rtl_0_memstream_wrapper", "module": "M", "kernel": "memstream", "cycles": 0},
        {"name": "MVAU_rtl_0", "module": "V0", "kernel": "MVAU_rtl", "cycles": 512},
    ],
    "links": [
        {
            "name": "s_axis_0", "source": {"layer": "", "stream": "s_axis_0"},
            "target": {"layer": "Thresholding_rtl_0", "stream": "in0_V"}, "bits": 8,
            "layout": X, "depth": 2,
        },
        {
            "name": "Thresholding_rtl_0_out0_V", "source": {"layer": "Thresholding_rtl_0", "stream": "out0_V"},
            "target": {"layer": "MVAU_rtl_0", "stream": "in0_V"}, "bits": 32,
            "layout": {"tensor": "t", "shape": [1, 64], "lanes": 8, "lane_bits": 4, "signed": False}, "depth": 7,
        },
        {
            "name": "MVAU_rtl_0_memstream_wrapper_m_axis_0",
            "source": {"layer": "MVAU_rtl_0_memstream_wrapper", "stream": "m_axis_0"},
            "target": {"layer": "MVAU_rtl_0", "stream": "in1_V"}, "bits": 24, "layout": None, "depth": 0,
        },
        {
            "name": "MVAU_rtl_0_out0_V", "source": {"layer": "MVAU_rtl_0", "stream": "out0_V"},
            "target": {"layer": "", "stream": "m_axis_0"}, "bits": 16,
            "layout": Y, "depth": 0,
        },
    ],
    "inputs": [
        {"name": "s_axis_0", "bits": 8, "layout": X},
    ],
    "outputs": [
        {"name": "m_axis_0", "bits": 16, "layout": Y},
    ],
    "sources": [],
    "memories": [],
}  # fmt: skip
FIFOS = {
    "fifos": [
        {
            "name": "Thresholding_rtl_0_out0_V", "from": "Thresholding_rtl_0.out0_V", "to": "MVAU_rtl_0.in0_V",
            "bits": 32, "depth": 7, "gauge": 9, "total_bits": 224,
        },
    ],
    "gauge_bits": 288,
    "simulations": 12,
    "seconds": 1.5,
    "minimal": True,
    "layers_alone": 4,
    "unsettled": ["MVAU_rtl_0", 7],
    "interval": 512,
}  # fmt: skip
SIMULATION = {
    "frames": 360,
    "mismatches": 0,
    "stalled_frames": 1080,
    "stalled_mismatches": 0,
    "generated_frames": 8,
    "constant_outputs": {},
    "constant_layers": [],
    "stalled_cycles": {"input": 90123, "output": 81234},
    "stalled_shares": {"input": 0.31, "output": 0.288},
    "interval_cycles": 512.0,
    "interval_estimate": 512,
    "latency_cycles": 640,
    "latency_estimate": 576,
    "cycles_per_second": 1234567.8,
    "accuracy": 0.9639,
    "random": False,
    "layers": [
        {
            "layer": "MVAU_rtl_0",
            "kernel": "MVAU_rtl",
            "frames": 4,
            "values": 512,
            "wrong": 0,
            "missing": 0,
            "surplus": 0,
            "first": None,
        },
    ],
}
SYNTHESIS = {
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
            "name": "MVAU_rtl_0", "kernel": "MVAU_rtl", "lut": 810, "lutram": 0, "ff": 1239, "bram18": 0, "uram": 2,
            "dsp": 8, "estimate": {"lut": None, "ff": 1301, "bram18": 3, "uram": 2, "dsp": 4},
            "error": {"lut": None, "ff": 0.05}, "seconds": 7.2,
            "path": {"ns": 2.5, "levels": 5, "fmax_mhz": 400.0, "to_mvau": 0.84, "start": "a[0]", "end": "b[1]"},
        },
    ],
    "fifos": [
        {
            "name": "Thresholding_rtl_0_out0_V", "bits": 32, "depth": 7,
            "lut": 48, "lutram": 32, "ff": 40, "bram18": 0, "uram": 0, "dsp": 0,
            "estimate": {"lut": 48, "ff": 40, "bram18": 0, "uram": 0, "dsp": 0}, "error": {"lut": 0.0, "ff": 0.0},
        },
    ],
    "estimate": {"lut": None, "ff": 5300, "bram18": 3, "uram": 2, "dsp": 4},
    "error": {"lut": None, "ff": 0.0352},
}  # fmt: skip
FILES = {
    "rtl/design/design.json": DESIGN,
    "report/rtl_fifos.json": FIFOS,
    "report/rtl_simulation.json": SIMULATION,
    "report/rtl_synthesis.json": SYNTHESIS,
}


def write_circuit(folder, **changes):
    """Write all files but those that are None in `changes`, by stem: `design`, `rtl_fifos` ..."""
    for name, content in FILES.items():
        path = folder / name
        content = changes.get(path.stem, content)
        if content is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content if isinstance(content, str) else json.dumps(content))
    return folder
