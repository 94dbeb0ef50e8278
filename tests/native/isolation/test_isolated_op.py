"""Isolated operations: the same results and messages as in this process, and arrays that are not copied."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainsmith import ops
from brainsmith.autodiff.calls import call_op
from brainsmith.errors import GradientError, NativeLibraryError, OpError
from brainsmith.native import open_library
from brainsmith.native.isolation.pool import place_of
from tests.native.isolation.pool_sizes import bytes_mapped, bytes_used, pool_of
from tests.plugin.installed import run_python

SAFE = (
    "twice",
    "product",
    "extremes",
    "positive",
    "fails",
    "panics",
    "silent",
    "wrong_shape",
    "wrong_dtype",
    "vast",
)


@pytest.fixture(scope="module")
def both(bad_library):
    here, there = open_library(bad_library), open_library(bad_library, isolation="process")
    yield {one.name: one for one in here.ops}, {one.name: one for one in there.ops}
    here.close()
    there.close()


def outcome(work):
    try:
        value = work()
    except OpError as error:
        return type(error), str(error)
    values = value if isinstance(value, tuple) else (value,)
    return [None if one is None else (one.shape, one.dtype.name, one.tolist()) for one in values]


def test_it_has_what_a_library_in_this_process_has(bad, bad_library):
    here = open_library(bad_library)
    for name in (
        "name",
        "version",
        "description",
        "author",
        "min_brainsmith",
        "max_brainsmith",
        "path",
        "sha256",
        "closed",
    ):
        assert getattr(bad, name) == getattr(here, name), name
    for there, one in zip(bad.ops, here.ops, strict=True):
        for name in (
            "name", "version", "description", "bundle", "plugin", "num_inputs", "num_outputs", "not_differentiable",
            "has_gradient", "attributes",
        ):  # fmt: skip
            assert getattr(there, name) == getattr(one, name), name
    here.close()


@pytest.mark.parametrize("name", SAFE)
@pytest.mark.parametrize(
    "inputs",
    [
        [np.arange(6, dtype=np.float32)],
        [np.float32([[1, 2, 3], [4, 5, 6]]), np.float32([[1], [0], [-1]])],
        [np.float32([[1, 2]]), np.float32([[1], [0], [-1]])],
        [np.ones((2, 2)), np.ones((2, 2), np.float32)],
        [[1.5, -2]],
        [3],
        [np.arange(12, dtype=np.float32)[::3]],
        [np.arange(4, dtype=">f4")],
        [np.ones(3, complex)],
        [],
    ],
    ids=[
        "array",
        "matrices",
        "unfitting",
        "float64",
        "list",
        "number",
        "strided",
        "big_endian",
        "complex",
        "none",
    ],
)
def test_a_call_gives_what_it_gives_in_this_process(both, name, inputs):
    here, there = both[0][name], both[1][name]
    assert outcome(lambda: call_op(there, inputs)) == outcome(lambda: call_op(here, inputs))


@pytest.mark.parametrize("name", ["twice", "product", "extremes", "fails"])
def test_a_gradient_is_what_it_is_in_this_process(both, name):
    inputs = [np.float32([[1, 2], [3, 4]]), np.float32([[5, 6], [7, 8]])][: both[0][name].num_inputs]
    for upstream in (np.ones((2, 2), np.float64), np.ones(3, np.float32)):

        def gradient(op, upstream=upstream):
            output = np.zeros((2, 2), np.float64 if name == "product" else np.float32)
            return op.create_gradient_function(inputs, output).gradients(upstream)

        assert outcome(lambda: gradient(both[1][name])) == outcome(lambda: gradient(both[0][name]))
    for output in (np.zeros(1, np.float32), None, np.zeros((2, 2), np.int32)):
        here, there = (
            outcome(lambda op=ops_of[name], y=output: op.backward(np.ones((2, 2)), inputs, y))
            for ops_of in both
        )
        assert here == there
        assert here[0] is GradientError
    with pytest.raises(
        GradientError, match=r"^operation 'twice' has no gradient for input 0, which is of int32$"
    ):
        both[1]["twice"].backward(np.ones(2), [np.ones(2, np.int32)], np.ones(2, np.int32))


@pytest.mark.parametrize("name", SAFE)
def test_the_rules_are_those_in_this_process(both, name):
    here, there = both[0][name], both[1][name]
    for shapes in ([(2, 3), (3, 4)], [(5,), ()], [(0, 1), (1, 0)]):
        shapes = shapes[: here.num_inputs]
        assert told(there.output_shape, shapes) == told(here.output_shape, shapes)
    for dtype in (np.float32, np.int8, complex):
        dtypes = [np.dtype(dtype)] * here.num_inputs
        assert told(there.output_dtype, dtypes) == told(here.output_dtype, dtypes)
    for device in ("cpu", "other:0"):
        devices = [device] * here.num_inputs
        assert told(there.output_device, devices) == told(here.output_device, devices)


def told(rule, given_):
    try:
        return rule(given_)
    except OpError as error:
        return str(error)


def test_validation_alone(both):
    for library in both:
        with pytest.raises(OpError) as caught:
            library["positive"].validate_inputs([np.float32([-1])])
        assert str(caught.value) == (
            "Operation 'positive' does not take these inputs: its first element must be more than 0"
        )
        library["positive"].validate_inputs([np.float32([1])])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(width=32, allow_nan=False), max_size=20), st.booleans())
def test_values_come_back_whatever_they_are(both, values, shared):
    x = np.array(values, np.float32)
    x = ops.shared_like(x) if shared else x
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(both[1]["twice"].forward(x), 2 * x)


def test_shared_arrays_are_not_copied(bad, op, monkeypatch):
    copied = []
    monkeypatch.setattr(
        "brainsmith.native.isolation.isolated_op.shared_like",
        lambda x: copied.append(x) or ops.shared_like(x),
    )
    x = ops.shared_like(np.arange(8, dtype=np.float32))
    y = op("twice").forward(x)
    assert place_of(y) is not None
    assert place_of(y)[0] in pool_of(bad).regions
    np.testing.assert_array_equal(op("twice").forward(y[2:6]), [8, 12, 16, 20])
    np.testing.assert_array_equal(op("twice").forward(x.reshape(2, 4)[1]), [8, 10, 12, 14])
    assert copied == []
    op("twice").forward(x[::2])
    op("twice").forward(np.ones(3, np.float32))
    assert len(copied) == 2


@pytest.mark.slow
def test_many_calls_keep_nothing(bad, op):
    run = op("twice").forward
    x = ops.shared_like(np.ones(1000, np.float32))
    run(x)
    before = (bytes_mapped(pool_of(bad)), bytes_mapped(x.base.pool), bytes_used(x.base.pool))
    for _ in range(1000):
        run(x)
    assert (bytes_mapped(pool_of(bad)), bytes_mapped(x.base.pool), bytes_used(x.base.pool)) == before
    assert bytes_used(pool_of(bad)) == 0


@pytest.mark.slow
def test_regions_that_are_gone_are_unmapped_there(bad, op, monkeypatch):
    monkeypatch.setattr("brainsmith.native.isolation.pool.KEPT", 0)

    def mapped():
        with open(f"/proc/{bad.pid}/maps") as file:
            return sum("memfd:brainsmith (" in line for line in file)

    for _ in range(5):
        large = ops.shared_empty(5 << 20)
        large[:] = 1
        assert op("extremes").forward(large)[1] == 1
        del large
    assert mapped() <= 3


def test_a_tensor_s_gradient_comes_from_there(bad, op):
    x = ops.Tensor(np.float32([1, 2]), requires_grad=True)
    from brainsmith.autodiff.calls import run_op

    run_op(op("twice"), [x]).sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_a_closed_library_says_so(bad, op):
    twice = op("twice")
    twice.forward(np.float32([1]))
    bad.close()
    bad.close()
    with pytest.raises(OpError) as caught:
        twice.forward(np.float32([1]))
    assert str(caught.value) == f"Operation 'twice' was removed: native plugin {twice.plugin} was unloaded"
    assert repr(bad) == "<isolated native plugin bad_plugin 1.2.3, 23 operations, closed>"
    assert bad.pid is None


@pytest.mark.slow
def test_the_worker_imports_little(bad_library):
    code = f"""
    import json
    from brainsmith.native.isolation.isolated_library import open_isolated
    library = open_isolated({str(bad_library)!r})
    maps = open(f"/proc/{{library.pid}}/maps").read()
    library.close()
    print(json.dumps(["numpy" in maps, "libffi" in maps]))
    """
    assert run_python(code) == [False, True]


def test_what_is_wrong_with_a_library_is_said_before(tmp_path, bad_library):
    path = tmp_path / "x.so"
    path.write_text("text")
    for work in (
        {"path": path},
        {"path": tmp_path / "none.so"},
        {"path": bad_library, "sha256": "0" * 64},
    ):
        place = work.pop("path")
        assert refusal(place, isolation="process", **work) == refusal(place, **work)
    with pytest.raises(NativeLibraryError, match=r"^time_limit must be a number of seconds above 0, not 0$"):
        open_library(bad_library, isolation="process", time_limit=0)


def refusal(path, **arguments):
    with pytest.raises(NativeLibraryError) as caught:
        open_library(path, **arguments)
    return type(caught.value), str(caught.value)
