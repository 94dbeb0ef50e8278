"""The HLS backends: the kernels' numbers, estimates that say something, nodes that any process finds."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from finn.custom_op.fpgadataflow.hlsbackend import HLSBackend
from finn.util.exception import FINNInternalError
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.core.modelwrapper import ModelWrapper
from qonnx.core.onnx_exec import execute_onnx
from qonnx.custom_op.registry import getCustomOp

import brainsmith.backends.hls
import brainsmith.kernels
from brainsmith.backends.hls import float_operators as fp
from brainsmith.plugin import get_plugin_manager
from brainsmith.rtl.synthesis.cells import Resources

PART = "xczu7ev-ffvc1156-2-e"
ROWS = {"LayerNorm": {"epsilon": 1e-5, "inputDataType": "INT8", "outputDataType": "FLOAT32"}}
ROWS["Softmax"] = {"input_data_type": "INT8"}
KIND = {"LayerNorm": "inputDataType", "Softmax": "input_data_type"}
INTEGERS = {
    "LayerNorm": {"outputDataType": "INT13", "fraction_bits": 8},
    "Softmax": {"outputDataType": "UINT8", "fraction_bits": 8, "scale": 0.05},
}


def node_of(op_type, domain, inputs, **attrs):
    return helper.make_node(
        op_type, inputs, ["y"], name=op_type, domain=domain, backend="fpgadataflow", **attrs
    )


def model_of(node, **shapes):
    values = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, s) for name, s in shapes.items()}
    graph = helper.make_graph([node], "test", [values[name] for name in node.input], [values["y"]])
    return ModelWrapper(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]))


def rows(kernel, backend=True, shape=(1, 4, 128), simd=1, kind="INT8", **attributes):
    """Make a model of one LayerNorm or Softmax, as kernel or as its HLS backend."""
    op_type, domain = (
        (f"{kernel}HLS", "brainsmith.backends.hls") if backend else (f"{kernel}Kernel", "brainsmith.kernels")
    )
    return model_of(
        node_of(
            op_type,
            domain,
            ["x"],
            ifm_dim=shape,
            SIMD=simd,
            **(ROWS[kernel] | {KIND[kernel]: kind} | attributes),
        ),
        x=shape,
        y=shape,
    )


def instance(model):
    return getCustomOp(model.graph.node[0])


@pytest.mark.parametrize("kernel", ["LayerNorm", "Softmax"])
@pytest.mark.slow
def test_a_backend_computes_what_its_kernel_computes(kernel):
    feeds = {"x": np.random.default_rng(0).integers(-128, 128, (1, 4, 128)).astype(np.float32)}
    expected = execute_onnx(rows(kernel, backend=False), feeds)["y"]
    np.testing.assert_array_equal(execute_onnx(rows(kernel), feeds)["y"], expected)
    assert np.isfinite(expected).all()
    assert expected.std() > 0


@pytest.mark.parametrize("name", brainsmith.backends.hls.__all__)
def test_backends_are_their_kernels_and_finns_backends(name):
    cls = getattr(brainsmith.backends.hls, name)
    kernel = getattr(brainsmith.kernels, name.replace("HLS", "Kernel"))
    assert (cls.__name__, issubclass(cls, kernel), issubclass(cls, HLSBackend)) == (name, True, True)


@pytest.mark.parametrize("kernel", ["LayerNorm", "Softmax"])
def test_estimates_of_rows_grow_with_the_lanes(kernel):
    one, four = instance(rows(kernel)), instance(rows(kernel, simd=4))
    found = [
        (op.lut_estimation(PART), op.dsp_estimation(PART), op.bram_estimation(PART)) for op in (one, four)
    ]
    assert all(more > less > 0 for less, more in zip(found[0][:2], found[1][:2], strict=True))
    assert one.get_exp_cycles() > 3 * four.get_exp_cycles()
    estimate = one.node_res_estimation(PART)
    assert (estimate["LUT"], estimate["DSP"], estimate["BRAM_18K"]) == found[0]
    assert estimate["URAM"] == 0


def test_the_estimate_of_a_layer_norm_is_the_sum_of_its_parts():
    op = instance(rows("LayerNorm", shape=(1, 4, 128)))
    lane = fp.ADD.times(3) + fp.MULTIPLY.times(2) + fp.FROM_INTEGER
    shared = fp.ADD + fp.MULTIPLY.times(2) + fp.SQUARE_ROOT + fp.DIVIDE + fp.CONTROL
    assert op.core_resources("xcup") == lane + shared + Resources(lut=50, bram18=1).times(2)


@pytest.mark.parametrize("kernel", ["LayerNorm", "Softmax"])
def test_the_estimates_of_integers_count_their_own_widths(kernel):
    attributes = INTEGERS[kernel]
    narrow, wide = (instance(rows(kernel, simd=2, kind=kind, **attributes)) for kind in ("INT4", "INT8"))
    floats = instance(rows(kernel, simd=2))
    assert 0 < narrow.lut_estimation(PART) < wide.lut_estimation(PART) < floats.lut_estimation(PART)
    assert 0 < wide.dsp_estimation(PART) < floats.dsp_estimation(PART)


def test_a_row_buffer_is_shift_registers_until_it_is_deep():
    assert fp.row_buffer(32, 8) == Resources(lut=8)
    assert fp.row_buffer(64, 8) == Resources(lut=16)
    assert fp.row_buffer(65, 8) == Resources(lut=50, bram18=1)
    assert fp.row_buffer(1024, 64) == Resources(lut=50, bram18=4)


def test_a_simulation_that_was_not_built_fails_in_finn(tmp_path):
    model = rows("Softmax")
    instance(model).set_nodeattr("exec_mode", "rtlsim")
    instance(model).set_nodeattr("code_gen_dir_ipgen", str(tmp_path))
    with pytest.raises(
        FINNInternalError, match=r"^rtlsim_so attribute points to non-existent file in SoftmaxHLS"
    ):
        execute_onnx(model, {"x": np.zeros((1, 4, 128), np.float32)})


def test_datatypes_are_found_through_the_backend():
    op = instance(rows("LayerNorm"))
    assert (op.get_input_datatype(), op.get_output_datatype()) == (DataType["INT8"], DataType["FLOAT32"])
    assert (op.get_nodeattr("cpp_interface"), op.get_nodeattr("hls_style")) == ("packed", "ifm_aware")


@pytest.mark.parametrize(
    ("package", "kind"), [(brainsmith.kernels, "kernel"), (brainsmith.backends.hls, "backend")]
)
def test_the_tables_of_a_domain_are_its_decorated_files(package, kind):
    files = sorted(Path(package.__path__[0]).glob("*.py"))
    decorated = []
    for file in files:
        source = file.read_text(encoding="utf-8")
        if f"\n@{kind}(" in source:
            decorated.append(re.search(rf"\n@{kind}\(.*?\nclass (\w+)\(", source, re.DOTALL).group(1))
    assert sorted(decorated) == package.__all__
    registry = get_plugin_manager().all_records()[0]
    ours = [info for info in registry.values() if info.type == kind and info.framework == "brainsmith"]
    domains = {info.reference.rpartition(":")[2]: info.extra["domain"] for info in ours}
    assert {domains[name] for name in package.__all__} == {package.__name__}


def test_an_unknown_name_in_a_domain():
    with pytest.raises(
        AttributeError, match=r"^domain 'brainsmith.kernels' has no operator 'Nope'; it has CropKernel, "
    ):
        _ = brainsmith.kernels.Nope
    with pytest.raises(
        AttributeError, match=r"^domain 'brainsmith.backends.hls' has no operator 'Nope'; it has "
    ):
        _ = brainsmith.backends.hls.Nope


def test_importing_the_domains_imports_no_framework():
    code = (
        "import sys, brainsmith.kernels, brainsmith.backends.hls;"
        "print([m for m in ('finn', 'qonnx', 'onnx', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
