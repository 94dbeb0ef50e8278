"""What stands for content: equal content, equal digest; anything else, another one."""

import numpy as np
import onnx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.runtime.resource_content import content_of, describe_resource, digest_of

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
)


def same(a, b):
    """Tell whether two values are of equal types and values, all the way down."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return repr(a) == repr(b)


@settings(max_examples=40, deadline=None)
@given(VALUES, VALUES)
def test_two_values_have_one_digest_if_and_only_if_they_are_the_same(a, b):
    assert (digest_of(a, "it") == digest_of(b, "it")) == same(a, b)


@settings(max_examples=40, deadline=None)
@given(VALUES)
def test_the_order_of_a_table_does_not_count(value):
    assert digest_of({"a": value, "b": 1}, "it") == digest_of({"b": 1, "a": value}, "it")


def test_arrays_count_with_type_and_shape():
    arrays = [np.zeros(4), np.zeros((2, 2)), np.zeros(4, np.float32), np.zeros(8, np.float32), np.ones(4)]
    assert len({digest_of(array, "it") for array in arrays}) == 5
    assert digest_of(np.zeros(4), "it") == digest_of(np.zeros(4), "it")


def test_nested_values_are_told_apart():
    values = [[[1], 2], [1, [2]], [[1, 2]], [1, 2], {"1": 2}, ["1", 2], [1, "2"], "12", ["12"], [b"12"], []]
    assert len({digest_of(value, "it") for value in values}) == len(values)


def model(bias=1.0):
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "b"], ["y"])],
        "add",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 64])],
        [numpy_helper.from_array(np.full(64, bias, np.float32), "b")],
    )
    return helper.make_model(graph)


def test_models_are_told_apart_by_their_content(tmp_path):
    onnx.save(model(), tmp_path / "a.onnx")
    onnx.save(model(), tmp_path / "b.onnx")
    onnx.save(model(2.0), tmp_path / "c.onnx")
    a, b, c = (content_of(tmp_path / f"{name}.onnx") for name in "abc")
    assert a == b != c
    assert content_of(str(tmp_path / "a.onnx")) == a
    assert content_of(model()) == content_of(model()) != content_of(model(2.0))
    assert (
        content_of(ModelWrapper(model()))
        == content_of(ModelWrapper(model()))
        != content_of(ModelWrapper(model(2.0)))
    )
    assert content_of(b"one") == content_of(bytearray(b"one")) != content_of(b"two")


def test_a_model_whose_weights_lie_in_another_file_counts_with_them(tmp_path):
    path = tmp_path / "a.onnx"
    onnx.save(model(), path, save_as_external_data=True, location="weights.bin", size_threshold=0)
    before = content_of(path)
    assert content_of(path) == before
    data = bytearray((tmp_path / "weights.bin").read_bytes())
    data[-1] ^= 1
    (tmp_path / "weights.bin").write_bytes(data)
    assert content_of(path) != before


def partitioned(path):
    """Return a model whose one node stands for the model of a file."""
    node = helper.make_node(
        "GenericPartition", ["x"], ["y"], name="part", domain="qonnx.custom_op.general", model=str(path)
    )
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 64]) for name in "xy"]
    return helper.make_model(helper.make_graph([node], "whole", ends[:1], ends[1:]))


def test_the_models_of_partitions_count(tmp_path):
    inner, middle, outer = (tmp_path / f"{name}.onnx" for name in ("inner", "middle", "outer"))
    onnx.save(model(), inner)
    onnx.save(partitioned(inner), middle)
    onnx.save(partitioned(middle), outer)
    resources = (outer, outer.read_bytes(), ModelWrapper(partitioned(middle)))
    before = [content_of(resource) for resource in resources]
    assert [content_of(resource) for resource in resources] == before
    onnx.save(model(2.0), inner)
    assert not set(before) & {content_of(resource) for resource in resources}


def test_the_relative_path_of_a_partition_is_another_file_in_another_folder(tmp_path, monkeypatch):
    found = []
    for name in "ab":
        (tmp_path / name).mkdir()
        onnx.save(model(), tmp_path / name / "part.onnx")
        monkeypatch.chdir(tmp_path / name)
        found.append(content_of(partitioned("part.onnx")))
    assert found[0] != found[1]


def test_a_partition_that_names_its_own_file_or_none_has_a_content(tmp_path):
    path = tmp_path / "loop.onnx"
    onnx.save(partitioned(path), path)
    assert content_of(path) == content_of(path) != content_of(path.read_bytes())
    assert content_of(partitioned("")) != content_of(partitioned("nowhere"))
    assert content_of(b"GenericPartition") == content_of(b"GenericPartition")


def test_folders_count_with_names_and_contents(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name / "inner").mkdir(parents=True)
        (tmp_path / name / "inner" / "one").write_text("1")
    assert content_of(tmp_path / "a") == content_of(tmp_path / "b")
    (tmp_path / "b" / "two").write_text("")
    assert content_of(tmp_path / "a") != content_of(tmp_path / "b")
    (tmp_path / "b" / "two").unlink()
    (tmp_path / "b" / "inner" / "one").write_text("2")
    assert content_of(tmp_path / "a") != content_of(tmp_path / "b")


def test_an_object_whose_content_cannot_be_told_has_none():
    assert content_of(object()) == ""
    assert content_of([1, object()]) == ""


@pytest.mark.parametrize(
    ("resource", "told"),
    [("a/m.onnx", "a/m.onnx"), (b"12345" * 1000, "5,000 bytes"), (ModelWrapper(model()), "a ModelWrapper")],
)
def test_a_resource_is_described(resource, told):
    assert describe_resource(resource) == told
