"""Width converters, as FINN+'s `test_fpgadataflow_dwc` has them.

Its cases: 24, of which 6 are RTL with `rtlsim` and are run here. The 12 HLS ones need an HLS compiler; 6 are FINN's Python
execution (`cppsim`). Of 8 stitched ones (`test_fpgadataflow_dwc_stitched_rtlsim`) the 4 RTL ones are run, too.
Left out: 10 cases of `test_fpgadataflow_analytical_characterization_dwc`, which compare two models of traffic.
"""

import pytest
from onnx import helper
from qonnx.core.datatype import DataType

from tests.rtl.finn_cases.bench import check
from tests.rtl.finn_cases.cases import HARDWARE, Case, make_model, specialised
from tests.rtl.finn_cases.stitched import check_stitched

PART = "xc7z020clg400-1"
GRID = [
    ((1, 24), 6, 4, "INT2"),
    ((1, 24), 4, 6, "INT2"),
    ((1, 4), 2, 4, "BIPOLAR"),
    ((1, 4), 4, 2, "INT2"),
    ((1, 2, 8), 4, 4, "INT2"),
    ((1, 2, 8), 8, 16, "INT2"),
]


def make_case(shape, wide_in, wide_out, kind):
    bits = DataType[kind].bitwidth()
    folded = [(*shape[:-1], shape[-1] * bits // wide, wide // bits) for wide in (wide_in, wide_out)]
    node = helper.make_node(
        "StreamingDataWidthConverter", ["x"], ["y"], domain=HARDWARE, backend="fpgadataflow", inShape=folded[0],
        outShape=folded[1], inWidth=wide_in, outWidth=wide_out, dataType=kind, preferred_impl_style="rtl",
    )  # fmt: skip
    model = make_model(node, {"x": shape}, {"y": shape}, {"x": kind, "y": kind})
    layer = specialised(model, PART, "StreamingDataWidthConverter_rtl")
    return Case(None, layer, PART, compute=lambda x: x)


@pytest.mark.slow
def test_all_cases(tmp_path, library, simulations):
    check(make_case, GRID, tmp_path, library)


@pytest.mark.slow
def test_stitched(tmp_path, library, simulations):
    check_stitched(make_case, GRID[2:], tmp_path, library)
