"""The target cppsim: HLS layers as C++, other nodes in Python, and models that it refuses."""

import re

import numpy as np
import pytest
from onnx import helper

from brainsmith.plugin.adapters.finn_runtime import prepare_finn

prepare_finn()

from brainsmith.errors import InputError, TargetError, UnsupportedResourceError  # noqa: E402
from brainsmith.execution.execute import Executor  # noqa: E402
from brainsmith.runtime.capabilities import Capabilities  # noqa: E402
from brainsmith.targets.cppsim import CppSimulation  # noqa: E402
from tests.backends.hls.test_softmax_hls import softmax  # noqa: E402
from tests.hls import finn_models as models  # noqa: E402


def chain():
    """Nodes of the host before, between and behind two layers in HLS; one of them forks."""
    nodes = [
        helper.make_node("Relu", ["x"], ["a"], name="relu"),
        models.elementwise_node("Add", ("a", "x"), "b", ("INT4", "INT4", "INT5")),
        helper.make_node("Neg", ["b"], ["c"], name="neg"),
        models.elementwise_node("Sub", ("c", "k"), "d", ("INT6", "INT4", "INT7"), rhs="const"),
        helper.make_node("Mul", ["d", "half"], ["y"], name="mul"),
    ]
    constants = {"k": np.arange(-6, 6).reshape(models.SHAPE), "half": np.float32(0.5)}
    kinds = {"x": "INT4", "a": "INT4", "b": "INT5", "c": "INT6", "d": "INT7", "k": "INT4"}
    ends = {"x": models.SHAPE}, {"y": models.SHAPE}
    return models.model_of(nodes, *ends, constants, kinds, dict.fromkeys("abcd", models.SHAPE))


@pytest.mark.slow
def test_layers_in_hls_run_as_cpp_and_the_rest_in_python():
    cppsim, model = CppSimulation(), chain()
    assert cppsim.supports(model) == ""
    prepared = cppsim.prepare_resource(model)
    assert [(one.op_type, one.how) for one in cppsim.how_executed(prepared)] == [
        ("Relu", "Python"),
        ("ElementwiseAdd_hls", "C++"),
        ("Neg", "Python"),
        ("ElementwiseSub_hls", "C++"),
        ("Mul", "Python"),
    ]
    stack = models.samples(model, 7)["x"]
    expected = Executor(model).run({"x": stack}, None)
    found = cppsim.execute(prepared, stack.reshape(7, 3, 4), keep=None)
    assert list(found) == ["y", "a", "b", "c", "d"]
    for name, values in found.items():
        np.testing.assert_array_equal(values, expected[name].reshape(7, 3, 4))
    assert list(cppsim.execute(prepared, {"x": stack[0]}, keep=["c", "x"])) == ["y", "c"]
    with pytest.raises(InputError, match=r"^there is no tensor 'e' to keep; the tensors are a, b, c, d$"):
        cppsim.execute(prepared, stack[0], keep=["e"])


@pytest.mark.slow
def test_this_projects_own_layers_run_as_cpp():
    model = softmax(shape=(2, 8), simd=2)
    cppsim = CppSimulation()
    prepared = cppsim.prepare_resource(model)
    assert [one.how for one in cppsim.how_executed(prepared)] == ["C++"]
    stack = samples_of_integers(model, 9)
    found = cppsim.execute(prepared, stack.reshape(18, 8))
    np.testing.assert_array_equal(found["y"], Executor(model).run({"x": stack})["y"].reshape(18, 8))


def samples_of_integers(model, count):
    return (
        np.random.default_rng(0).integers(-128, 128, (count, *model.get_tensor_shape("x"))).astype(np.float32)
    )


HLSLIB = "of FINN's HLS library, which is in no package"


def test_a_layer_whose_cpp_is_not_there_is_not_run_in_python_instead(tmp_path):
    cppsim, model = CppSimulation(), models.label_select()
    reason = f"LabelSelect_hls_0 (LabelSelect_hls): its C++ needs maxpool.h {HLSLIB}"
    assert cppsim.supports(model) == reason
    with pytest.raises(UnsupportedResourceError, match=f"^{re.escape(reason)}$"):
        cppsim.prepare_resource(model)
    model.save(str(tmp_path / "model.onnx"))
    assert cppsim.supports(str(tmp_path / "model.onnx")) == reason


def test_what_is_no_model_with_layers_in_hls_is_not_supported(tmp_path):
    cppsim = CppSimulation()
    for resource, reason in (
        (tmp_path, f"{tmp_path} is a folder, and a model is an .onnx file"),
        (b"no", "the model is not an ONNX file: it holds no ONNX model that can be read"),
        (
            models.model_of([helper.make_node("Relu", ["x"], ["y"])], {"x": (1, 2)}, {"y": (1, 2)}),
            "it has no layer in HLS, so there is no C++ to run",
        ),
    ):
        assert cppsim.supports(resource) == reason
        with pytest.raises(UnsupportedResourceError, match=f"^{re.escape(reason)}$"):
            cppsim.prepare_resource(resource)


def test_it_has_no_settings():
    with pytest.raises(TargetError, match=r"^cppsim takes no settings, not 'fast'$"):
        CppSimulation().prepare_resource(chain(), {"fast": True})


def test_without_tools_it_says_which_and_how_to_get_them(monkeypatch, tmp_path):
    with monkeypatch.context() as patch:
        patch.setattr("brainsmith.plugin.tools.package_folders", lambda name: [])
        assert CppSimulation().unavailable_reason() == (
            "no HLS C++ can be compiled: the headers are missing: has the headers that simulations of HLS C++ need; "
            "pip install 'brainsmith[hls]'"
        )
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not CppSimulation().is_available()
    assert CppSimulation().unavailable_reason() == (
        "no HLS C++ can be compiled: g++ is missing: install a C++ compiler, such as Debian's g++"
    )


def test_what_it_promises():
    assert CppSimulation().get_capabilities() == Capabilities(bit_exact=True, batch=True, intermediates=True)
