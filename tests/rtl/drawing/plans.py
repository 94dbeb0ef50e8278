"""Designs as a report's `rtl.design` holds them."""

from itertools import pairwise


def link(source, target, bits=8, depth=0, tensor="t"):
    return {
        "name": source.replace(".", "_"),
        "source": source,
        "target": target,
        "bits": bits,
        "depth": depth,
        "tensor": tensor,
    }


def layer(name, kernel="MVAU_rtl", cycles=100):
    return {"name": name, "kernel": kernel, "module": f"{name}_module", "cycles": cycles}


MLP = {
    "top": "finn_design",
    "layers": [
        layer("Thresholding_rtl_0", "Thresholding_rtl", 64),
        layer("StreamingDataWidthConverter_rtl_0", "StreamingDataWidthConverter_rtl", 0),
        layer("MVAU_rtl_0_memstream_wrapper", "memstream", 0),
        layer("MVAU_rtl_0", cycles=512),
    ],
    "links": [
        link("s_axis_0", "Thresholding_rtl_0.in0_V", depth=2),
        link("Thresholding_rtl_0.out0_V", "StreamingDataWidthConverter_rtl_0.in0_V"),
        link("StreamingDataWidthConverter_rtl_0.out0_V", "MVAU_rtl_0.in0_V", bits=1024, depth=1200),
        link("MVAU_rtl_0_memstream_wrapper.m_axis_0", "MVAU_rtl_0.in1_V", bits=24, tensor=None),
        link("MVAU_rtl_0.out0_V", "m_axis_0", bits=16),
    ],
    "inputs": [{"name": "s_axis_0", "bits": 8, "tensor": "x", "shape": [1, 64]}],
    "outputs": [{"name": "m_axis_0", "bits": 16, "tensor": "y", "shape": [1, 10]}],
}


def chain(count):
    """A design of so many layers, one after the other."""
    names = [f"MVAU_rtl_{index}" for index in range(count)]
    ends = ["s_axis_0", *names, "m_axis_0"]
    links = [
        link(a if a == "s_axis_0" else f"{a}.out0_V", b if b == "m_axis_0" else f"{b}.in0_V", depth=index)
        for index, (a, b) in enumerate(pairwise(ends))
    ]
    return {
        "layers": [layer(name) for name in names],
        "links": links,
        "inputs": [{"name": "s_axis_0"}],
        "outputs": [{"name": "m_axis_0"}],
    }
