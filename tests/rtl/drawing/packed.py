"""A small accelerator as a package: two layers that pass four beats a frame on, the second one at half the rate."""

import numpy as np

from brainsmith.rtl.library.sources import RtlSource
from brainsmith.rtl.package.contents import PackageFacts
from brainsmith.rtl.package.pack import write_package
from brainsmith.rtl.stitching.design import DESIGN, Design, DesignStream, End, Layer, Layout, Link
from tests.rtl.designs import PORTS

_PASS = """
assign out0_V_TDATA = in0_V_TDATA;
assign out0_V_TVALID = in0_V_TVALID;
assign in0_V_TREADY = out0_V_TREADY;
"""
_SLOW = """
reg half = 0;
always @(posedge ap_clk) half <= ap_rst_n & !half;
assign out0_V_TDATA = in0_V_TDATA;
assign out0_V_TVALID = in0_V_TVALID & half;
assign in0_V_TREADY = out0_V_TREADY & half;
"""
_PORTS = (
    ("ap_clk", True), ("ap_rst_n", True), ("in0_V_TDATA", True), ("in0_V_TVALID", True), ("in0_V_TREADY", False),
    ("out0_V_TDATA", False), ("out0_V_TVALID", False), ("out0_V_TREADY", True),
)  # fmt: skip
LAYOUT = Layout("t", (4,), 1, 8, signed=False)
FRAMES = np.arange(20).reshape(5, 4)


def small_design():
    """The design: s_axis_0, `fast`, `slow`, m_axis_0."""
    bodies = {"fast": (_PASS, 4), "slow": (_SLOW, 8)}
    ends = [End(DESIGN, "s_axis_0")]
    for name in bodies:
        ends += [End(name, "in0_V"), End(name, "out0_V")]
    ends.append(End(DESIGN, "m_axis_0"))
    return Design(
        "small_design",
        tuple(Layer(name, f"{name}_rtl", "Pass_rtl", _PORTS, cycles) for name, (_, cycles) in bodies.items()),
        tuple(
            Link(str(source).replace(".", "_"), source, target, 8, LAYOUT)
            for source, target in zip(ends[::2], ends[1::2], strict=True)
        ),
        (DesignStream("s_axis_0", 8, LAYOUT),),
        (DesignStream("m_axis_0", 8, LAYOUT),),
        tuple(
            RtlSource(f"{name}.v", f"module {name}_rtl({PORTS.format(high=7)});\n{body}\nendmodule\n")
            for name, (body, _) in bodies.items()
        ),
        (),
    )


def write_small(folder):
    """Write the package of the small design below a build's folder; return the latter."""
    golden = {"s_axis_0": FRAMES, "m_axis_0": FRAMES}
    write_package(
        small_design(), folder / "accelerator", golden, PackageFacts("xc7z020clg400-1", 5.0, "a test")
    )
    return folder
