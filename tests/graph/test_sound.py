"""Every model that is opened, in a build, by a target or for a client, passes one check; and what it refuses."""

import sys

import onnx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from onnx import TensorProto, helper
from qonnx.core.datatype import DataType
from qonnx.custom_op import registry

from brainsmith.build.model import read_for_build
from brainsmith.errors import ModelError
from brainsmith.execution.read_model import read_model
from brainsmith.graph.datatype_names import datatype_fault
from brainsmith.graph.known_domains import domain_fault
from brainsmith.graph.sound import TRUSTED, require_sound
from brainsmith.runtime.serving.model_screening import check_model
from tests.graph import hostile
from tests.graph.test_well_formed import MODELS


@pytest.fixture
def beside(tmp_path, monkeypatch):
    """Put a module beside the model, where Python finds it."""
    (tmp_path / f"{hostile.MODULE}.py").write_text("raise SystemExit('imported')\n")
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.mark.parametrize("case", hostile.MODELS)
def test_each_way_to_open_a_model_refuses_it(beside, case):
    model, path = hostile.MODELS[case](), beside / "model.onnx"
    onnx.save(model, path)
    for read, given_, what in (
        (read_model, str(path), str(path)),
        (read_model, model, "the model"),
        (read_model, path.read_bytes(), "the model"),
        (read_for_build, str(path), str(path)),
    ):
        with pytest.raises(ModelError) as caught:
            read(given_)
        assert (
            str(caught.value)
            == f"{what}: {hostile.FAULTS[case]}{TRUSTED if case in hostile.RUNS_CODE else ''}"
        )


@pytest.mark.parametrize("case", [case for case in hostile.MODELS if case != "module beside the model"])
def test_a_client_s_model_is_refused_for_the_same(case):
    with pytest.raises(ModelError) as caught:
        check_model(hostile.MODELS[case]().SerializeToString())
    assert str(caught.value) == f"what was sent: {hostile.FAULTS[case]}"


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.name)
def test_the_examples_are_sound(path):
    require_sound(onnx.load(path), str(path))


@pytest.mark.parametrize(
    ("attribute", "value", "fault"),
    [
        ("inputDataType", "INT1000000000", "which has 1000000000 bits, and there can be 1 to 64"),
        ("out_dtype", "UINT0", "which has 0 bits, and there can be 1 to 64"),
    ],
)
def test_datatypes_in_attributes_count(attribute, value, fault):
    model = hostile.good()
    model.graph.node.append(
        helper.make_node(
            "Thresholding", ["x"], ["more"], "n", domain="finn.custom_op.fpgadataflow", **{attribute: value}
        )
    )
    with pytest.raises(ModelError) as caught:
        require_sound(model, "m")
    assert str(caught.value) == f"m: node 'n' (Thresholding) has {attribute} = '{value}', {fault}"


def test_nodes_in_branches_and_functions_count(beside):
    inner = helper.make_graph(
        [helper.make_node("Op", ["x"], ["i"], "inner", domain=hostile.MODULE)], "b", [], []
    )
    branch = hostile.good()
    branch.graph.node.append(
        helper.make_node("If", ["x"], ["o"], "choice", then_branch=inner, else_branch=inner)
    )
    function = hostile.good()
    function.functions.add(name="f", domain="d").node.append(
        helper.make_node("Op", ["x"], ["i"], "inner", domain=hostile.MODULE)
    )
    for model in (branch, function):
        with pytest.raises(ModelError, match=f"^m: node 'inner' \\(Op\\) is of domain '{hostile.MODULE}', "):
            require_sound(model, "m")


TYPES = st.one_of(
    st.integers(1, 64).map("INT{}".format),
    st.integers(1, 64).map("UINT{}".format),
    st.integers(1, 64).map("SCALEDINT<{}>".format),
    st.integers(2, 64).flatmap(
        lambda bits: st.integers(-8, bits - 1).map(lambda whole: f"FIXED<{bits},{whole}>")
    ),
    st.tuples(st.integers(1, 8), st.integers(0, 23)).map(lambda pair: "FLOAT<{},{}>".format(*pair)),
    st.sampled_from(["BINARY", "BIPOLAR", "TERNARY", "FLOAT32", "FLOAT16"]),
)


@given(TYPES)
def test_what_qonnx_writes_is_a_datatype(text):
    assert datatype_fault(text) == ""
    assert datatype_fault(DataType[text].get_canonical_name()) == ""


@given(st.text(max_size=12) | st.from_regex(r"(U?INT|FIXED<|FLOAT<|SCALEDINT<)[0-9,>-]{0,6}", fullmatch=True))
def test_whatever_passes_is_one_for_qonnx(text):
    if datatype_fault(text) == "":
        assert DataType[text].bitwidth() <= 64


@pytest.mark.parametrize(
    "domain",
    ["", "ai.onnx.ml", "onnx.brevitas", "qonnx.custom_op.channels_last", "brainsmith.ops", "com.microsoft"],
)
def test_domains_that_import_nothing_of_a_stranger_pass(domain):
    assert domain_fault(domain) == ""


def test_a_domain_that_the_user_has_imported_or_aliased_passes(beside, monkeypatch):
    assert domain_fault(hostile.MODULE)
    monkeypatch.setitem(registry._DOMAIN_ALIASES, "short", hostile.MODULE)
    assert f"import the module '{hostile.MODULE}'" in domain_fault("short")
    monkeypatch.setitem(sys.modules, hostile.MODULE, sys)
    assert domain_fault("short") == domain_fault(hostile.MODULE) == ""


def test_a_device_is_no_model():
    with pytest.raises(ModelError) as caught:
        read_model("/dev/null")
    assert str(caught.value) == (
        "/dev/null is a pipe or a device, not an ONNX file. Save the model to a file, and name it."
    )


@pytest.mark.parametrize("domain", ["..os", ".os"])
def test_a_domain_that_is_no_name_is_refused(domain):
    assert domain_fault(domain).startswith(
        f"domain '{domain}', for which QONNX would import the module '{domain}'"
    )


@pytest.mark.parametrize(
    ("data_type", "dims", "data", "fault"),
    [
        (TensorProto.INT4, [3], b"12", ""),
        (
            TensorProto.INT4,
            [3],
            b"1",
            "constant 'few' has the shape [3], and its data have room for 2 elements",
        ),
        (TensorProto.UINT2, [5], b"12", ""),
        (
            TensorProto.UINT2,
            [5],
            b"123",
            "constant 'few' has the shape [5], and its data have room for 12 elements",
        ),
        (
            TensorProto.INT2,
            [],
            b"1",
            "constant 'few' is a number of 2 bits without axes, which onnx cannot read. Give it the shape [1]",
        ),
    ],
)
def test_values_that_share_a_byte_are_as_many_as_their_shape_says(data_type, dims, data, fault):
    model = hostile.good()
    model.graph.initializer.append(TensorProto(name="few", data_type=data_type, dims=dims, raw_data=data))
    if not fault:
        read_model(model.SerializeToString())
        return
    with pytest.raises(ModelError) as caught:
        read_model(model.SerializeToString())
    assert str(caught.value) == f"the model: {fault}"


DATA = hostile.good().SerializeToString()


@example([(1153, 25)])
@given(st.lists(st.tuples(st.integers(0, len(DATA) - 1), st.integers(0, 255)), min_size=1, max_size=8))
def test_a_damaged_model_is_read_or_refused(damage):
    data = bytearray(DATA)
    for at, byte in damage:
        data[at] = byte
    try:
        read_model(bytes(data))
    except ModelError as error:
        assert str(error).startswith("the model")
