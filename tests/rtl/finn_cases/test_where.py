"""HWWhere, a layer with three inputs, as FINN+'s `test_where_execution` has it.

Its cases: 54 that are not skipped, all RTL: 30 as a layer, all run here, and 24 stitched between FIFOs, of which the 16
without floats are run, because a design here has no streams of floats. Left out:
`test_where_stitched_ip_synth_ooc`, which needs Vivado, and `test_where_resource_estimation`, which simulates nothing.

Verilator 5.48 cannot take `'{ 1, 2, 4 }` for an array parameter whose size is another parameter, unless the module's
default for that size happens to be the same. Which it is depends on the use, so the library's rules cannot mend it, and the
layer is not simulated in designs. Here each rank has a library of its own in which its default is right.
"""

from itertools import product

import numpy as np
import pytest
from finn.transformation.fpgadataflow.convert_to_hw.where import InferWhereLayer
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.errors import SimulationError
from brainsmith.rtl.library.rules import RULES, Rule
from brainsmith.rtl.library.sources import Library
from tests.rtl.finn_cases.bench import check
from tests.rtl.finn_cases.cases import Case, specialised
from tests.rtl.finn_cases.stitched import check_stitched

PART = "xc7z020clg400-1"
SAME = (1, 2, 4)
SHAPES = [
    (SAME, SAME, SAME, SAME),
    ((1, 3, 1), (1, 1, 4), (1, 2, 1, 1), (1, 2, 3, 4)),
    ((), (2, 3), (1, 3), (2, 3)),
]
GRID = [
    (kind, pe, shapes)
    for kind, pe, shapes in product(
        ["INT8", "INT4", "UINT4", "BIPOLAR", "FLOAT16", "FLOAT32"], [1, 2], SHAPES
    )
    if shapes[-1][-1] % pe == 0
]


def make_case(kind, pe, shapes):
    kinds = [TensorProto.BOOL, TensorProto.FLOAT, TensorProto.FLOAT, TensorProto.FLOAT]
    values = [
        helper.make_tensor_value_info(name, of, shape)
        for name, of, shape in zip(("c", "x", "y", "z"), kinds, shapes, strict=True)
    ]
    node = helper.make_node("Where", ["c", "x", "y"], ["z"], name="where")
    graph = helper.make_graph([node], "case", values[:3], values[3:])
    model = ModelWrapper(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 11)]))
    model.set_tensor_datatype("c", DataType["BINARY"])
    for name in "xyz":
        model.set_tensor_datatype(name, DataType[kind])
    layer = specialised(model.transform(InferWhereLayer()), PART, "HWWhere_rtl", PE=pe)
    return Case(None, layer, PART, tolerance=15, compute=lambda c, x, y: np.where(c.astype(bool), x, y))


def of_rank(library, rank):
    """Return the library with a rule for layers whose result has so many dimensions."""
    rule = Rule(
        "where-rank",
        ("where/hdl/where.sv",),
        "see above",
        "int unsigned  NDIMS,",
        f"int unsigned  NDIMS = {rank},",
    )
    return Library(library.folder, library.version, [*RULES, rule])


@pytest.mark.slow
@pytest.mark.parametrize("rank", [2, 3, 4])
def test_all_cases(rank, tmp_path, library, simulations):
    cases = [case for case in GRID if len(case[-1][-1]) == rank]
    assert len(cases) == {2: 6, 3: 12, 4: 12}[rank]
    check(make_case, cases, tmp_path, of_rank(library, rank))


@pytest.mark.slow
@pytest.mark.parametrize("rank", [3, 4])
def test_stitched(rank, tmp_path, library, simulations):
    cases = [case for case in GRID if len(case[-1][-1]) == rank and not case[0].startswith("FLOAT")]
    assert len(cases) == 8
    check_stitched(make_case, cases, tmp_path, of_rank(library, rank))


def test_without_its_rank_verilator_rejects_it(tmp_path, library, simulations):
    with pytest.raises(SimulationError, match=r"variable isn't const: 'NDIMS'"):
        check(make_case, GRID[:1], tmp_path, library)
