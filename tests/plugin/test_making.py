"""`get_instance` with the wrong arguments says what the plugin takes."""

import pytest
from onnx import helper

from brainsmith.errors import PluginArgumentsError
from brainsmith.plugin.core import target


@pytest.fixture
def made(manager):
    class Plugin:
        def __init__(self, name, /, *, deep=1):
            if name == "bad":
                raise TypeError("of its own")

    target(name="Plugin")(Plugin)
    return lambda *args, **kwargs: manager.get_instance("target", "Plugin", *args, **kwargs)


def test_a_kernel_is_made_for_a_node(manager):
    with pytest.raises(PluginArgumentsError) as caught:
        manager.get_instance("kernel", "LayerNorm")
    assert str(caught.value) == (
        "kernel 'brainsmith:LayerNorm' is created for a node of a graph, and no node was given\n"
        "  pass one: get_instance('kernel', 'brainsmith:LayerNorm', node); "
        "the class alone is get_plugin_manager().registry.get('kernel', 'brainsmith:LayerNorm')"
    )
    assert isinstance(caught.value, TypeError)


@pytest.mark.parametrize("arguments", [{"positional": True}, {"positional": False}])
def test_and_with_a_node_it_is_made(manager, arguments):
    node = helper.make_node("LayerNorm", ["x"], ["y"], domain="brainsmith.kernels", name="norm")
    if arguments["positional"]:
        kernel = manager.get_instance("kernel", "LayerNorm", node)
    else:
        kernel = manager.get_instance("kernel", "LayerNorm", onnx_node=node)
    assert kernel.onnx_node is node


@pytest.mark.parametrize(
    ("args", "kwargs", "wrong"),
    [
        ((), {}, "missing a required argument: 'name'"),
        (("x",), {"wide": 2}, "got an unexpected keyword argument 'wide'"),
        (("x", [1]), {}, "too many positional arguments"),
    ],
)
def test_other_arguments_are_refused_with_what_is_taken(made, args, kwargs, wrong):
    with pytest.raises(PluginArgumentsError) as caught:
        made(*args, **kwargs)
    assert str(caught.value) == (
        f"target 'project:Plugin' cannot be created with these arguments: {wrong}\n  it takes Plugin(name, /, *, deep=1)"
    )


def test_an_error_of_the_constructor_itself_is_left_alone(made):
    with pytest.raises(TypeError) as caught:
        made("bad")
    assert (type(caught.value), str(caught.value)) == (TypeError, "of its own")
