"""Modules that are imported in tests: six of FINN's library, two of this project's cores."""

from pathlib import Path

from brainsmith.rtl.library.sources import find_library

OURS = Path(__file__).parents[3] / "brainsmith" / "backends" / "rtl"

GOLDEN = """\
import numpy as np


def crop(x, H, W, CROP_N, CROP_E, CROP_S, CROP_W):
    return x[:, CROP_N : H - CROP_S, CROP_W : W - CROP_E]


def same(x):
    return x


def copies(x, COUNT):
    return (x,) * COUNT


def pad(x, INIT_XON, INIT_XEND, INIT_XOFF, INIT_YON, INIT_YOFF, INIT_YEND):
    right, bottom = INIT_XEND + 1 - INIT_XOFF, INIT_YEND + 1 - INIT_YOFF
    return np.pad(x, ((0, 0), (INIT_YON, bottom), (INIT_XON, right), (0, 0)))


def add(a, b):
    return a + b


def turned(x):
    return x.swapaxes(-1, -2)
"""

PADDING = """\
name: Padding
files: [{library}/fmpadding/hdl/fmpadding.sv, {library}/fmpadding/hdl/axi2we.sv, {library}/axi/hdl/axilite.sv]
set:
  XCOUNTER_BITS: 3
  YCOUNTER_BITS: 3
  NUM_CHANNELS: 4
  SIMD: 2
  ELEM_BITS: 4
  INIT_XON: 1     # padding on the left
  INIT_XOFF: 4    # and three columns
  INIT_XEND: 4
  INIT_YON: 1
  INIT_YOFF: 5
  INIT_YEND: 5
streams:
  s_axis:
    shape: [1, INIT_YOFF - INIT_YON, INIT_XOFF - INIT_XON, NUM_CHANNELS]
    datatype: INT{{ELEM_BITS}}
    lanes: SIMD
  m_axis: {{shape: [1, INIT_YEND + 1, INIT_XEND + 1, NUM_CHANNELS], datatype: "INT{{ELEM_BITS}}", lanes: SIMD}}
parallel: {{SIMD: NUM_CHANNELS}}
early: true
golden: golden.py:pad
"""


def commands(folder):
    """Write golden functions and a description to a folder; return the words of one command for each core."""
    library = find_library().folder
    (folder / "golden.py").write_text(GOLDEN)
    (folder / "padding.yaml").write_text(PADDING.format(library=library))

    def finn(*names):
        return ",".join(str(library / name) for name in names)

    return {
        "CropImage": [
            finn("crop/hdl/crop.sv"), "--top", "crop", "--set", "H=5,W=4,CF=2,DATA_WIDTH=8,CROP_N=1",
            "--streams", "i=1,H,W,CF:UINT{DATA_WIDTH} o=1,H-CROP_N-CROP_S,W-CROP_E-CROP_W,CF:UINT{DATA_WIDTH}",
            "--golden", "golden.py:crop", "--name", "CropImage",
        ],
        "Queue": [
            finn("fifo/hdl/fifo.sv"), "--set", "DEPTH=8,DATA_WIDTH=6", "--open", "count,maxcount",
            "--streams", "i=1,6:UINT3:2 o=1,6:UINT3:2", "--golden", "golden.py:same", "--name", "Queue",
        ],
        "Widths": [
            finn("dwc/hdl/dwc_axi.sv"), "--files", finn("dwc/hdl/vpc.sv"), "--set", "IBITS=8,OBITS=12",
            "--streams", "s_axis=2,12:INT4:2 m_axis=2,12:INT4:3", "--golden", "golden.py:same",
            "--name", "Widths", "--cycles", "16",
        ],
        "Padding": [finn("fmpadding/hdl/fmpadding_axi.sv"), "--description", "padding.yaml"],
        "Sum": [
            finn("eltwise/eltwise.sv"), "--files", finn("eltwise/binopi.sv", "fifo/hdl/fifo.sv"),
            "--set", "OP=ADD,PE=2,A_FLOAT=0,B_FLOAT=0,A_WIDTH=4,B_WIDTH=4",
            "--streams", "a=3,8:UINT{A_WIDTH}:PE b=3,8:UINT{B_WIDTH}:PE o=3,8:UINT5:PE",
            "--parallel", "PE=8", "--golden", "golden.py:add", "--name", "Sum",
        ],
        "Turn": [
            finn("inner_shuffle/inner_shuffle.sv"),
            "--files", finn("inner_shuffle/skid.sv", "inner_shuffle/elasticmem.sv", "fifo/hdl/fifo.sv"),
            "--set", "BITS=5,I=4,J=6,SIMD=2", "--streams", "i=1,I,J:INT{BITS}:SIMD o=1,J,I:INT{BITS}:SIMD",
            "--golden", "golden.py:turned", "--name", "Turn", "--cycles", "I * J",
        ],
        "Fork": [
            str(OURS / "duplicate_streams_core.sv"), "--set", "COUNT=3",
            "--streams", "in=1,6:UINT4:2 out=1,6:UINT4:2", "--golden", "golden.py:copies", "--name", "Fork",
        ],
        "Join": [
            str(OURS / "elementwise_core.sv"), "--files", str(OURS / "table_in_step.sv"),
            "--set", "PE=2,A_BITS=4,B_BITS=4,OUT_BITS=5", "--parallel", "PE=8",
            "--streams", "in=1,3,8:INT{A_BITS}:PE out=1,3,8:INT{OUT_BITS}:PE",
            "--golden", "golden.py:add", "--name", "Join",
        ],
    }  # fmt: skip
