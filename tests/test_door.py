"""The door: what users import from `brainsmith.plugins`, and that it is the real thing."""

# ruff: noqa: E501  (the texts are easier to read on one line)

import inspect
import pickle
import sys

import pytest

from brainsmith.errors import AmbiguousPluginError, PluginNotFoundError
from brainsmith.plugin.collections import Backends, Collection, Kernels, backends_of
from brainsmith.plugin.info import PluginInfo
from brainsmith.plugin.plugin_registry import Registry
from brainsmith.plugin.snapshot import Snapshot
from brainsmith.plugins import backends as bk
from brainsmith.plugins import kernels as kn
from brainsmith.plugins import steps
from brainsmith.plugins import transforms as tfm


def test_pitfall_11_an_attribute_is_the_real_class():
    from qonnx.transformation.base import Transformation
    from qonnx.transformation.fold_constants import FoldConstants

    from brainsmith.transforms.expand_norms import ExpandNorms

    assert tfm.ExpandNorms is ExpandNorms
    assert tfm.qonnx.FoldConstants is FoldConstants
    assert tfm["qonnx:FoldConstants"] is tfm.get_plugin("qonnx:FoldConstants") is FoldConstants
    assert isinstance(tfm.ExpandNorms(), Transformation)
    assert issubclass(tfm.ExpandNorms, Transformation)
    assert pickle.loads(pickle.dumps(tfm.ExpandNorms)) is ExpandNorms

    class Sub(tfm.ExpandNorms):
        pass

    assert isinstance(Sub(), ExpandNorms)


def test_a_step_is_the_real_function_with_its_own_name():
    assert inspect.isfunction(steps.cleanup)
    assert steps.cleanup.__name__ == "cleanup"
    assert steps.cleanup is sys.modules[steps.cleanup.__module__].cleanup


def test_pitfall_09_a_step_is_not_hidden_by_a_category_or_framework_of_its_name():
    assert callable(steps.cleanup)
    assert callable(steps.qonnx_to_finn)
    assert callable(steps.hardware_inference)


def test_the_names_of_the_requirements_are_there():
    for name in ("ExpandNorms", "ConvertDivToMul", "MergeOpChains"):
        assert tfm.get_info(name).framework == "brainsmith"
    for name in ("qonnx:FoldConstants", "qonnx:RemoveIdentityOps", "finn:Streamline"):
        assert name in tfm
    assert "LayerNorm" in kn
    assert "LayerNormHLS" in bk


def test_frameworks_are_attributes_that_hold_their_own():
    assert {info.framework for info in tfm.qonnx} == {"qonnx"}
    assert {info.framework for info in tfm.finn} == {"finn"}
    assert len(tfm.qonnx) < len(tfm)
    assert tfm.finn.get_info("MoveOpPastFork").framework == "finn"
    with pytest.raises(PluginNotFoundError):
        tfm.qonnx.Streamline
    with pytest.raises(PluginNotFoundError):
        tfm.qonnx.finn


def test_an_ambiguous_name_says_so_and_is_contained():
    with pytest.raises(AmbiguousPluginError, match="finn:MoveOpPastFork, qonnx:MoveOpPastFork"):
        tfm.MoveOpPastFork
    for name in ("MoveOpPastFork", "finn:MoveOpPastFork"):
        assert name in tfm


def test_a_missing_name_is_an_attribute_error_and_a_lookup_error():
    assert not hasattr(tfm, "ExpandNorm")
    assert not hasattr(tfm, "_ExpandNorm")
    assert getattr(tfm, "ExpandNorm", None) is None
    with pytest.raises(PluginNotFoundError) as caught:
        tfm.ExpandNorm
    assert str(caught.value).startswith("no transform named 'ExpandNorm'. Did you mean 'ExpandNorms'?\n")
    with pytest.raises(AttributeError):
        tfm.__wrapped__
    assert "nothing" not in tfm


def test_dir_and_completion_offer_names_and_frameworks():
    assert {"ExpandNorms", "Streamline", "qonnx", "finn", "list_plugins"} <= set(dir(tfm))
    assert "finn" not in dir(tfm.finn)
    assert "Streamline" in dir(tfm.finn)
    assert all(name.isidentifier() for name in dir(steps))


@pytest.mark.parametrize("collection", [tfm, kn, bk, steps])
def test_a_list_is_a_sequence_that_also_offers_items(collection):
    records = collection.list_plugins()
    assert len(records) == len(collection) > 0
    assert records[0] is records[0]
    assert list(records) == list(collection)
    assert records.items()[0] == (records[0].name, records[0])
    assert records.names() == [info.name for info in records]
    assert isinstance(records, tuple)


@pytest.mark.slow
def test_listing_loads_nothing(tmp_path):
    from tests.plugin.installed import run_python

    code = """
    import json, sys
    from brainsmith.plugins import backends, kernels, steps, transforms
    for collection in (backends, kernels, steps, transforms):
        collection.list_plugins(); dir(collection); repr(collection); "X" in collection
    print(json.dumps([m for m in sys.modules if m.startswith(("brainsmith.transforms", "brainsmith.kernels", "brainsmith.steps", "brainsmith.backends"))]))
    """
    assert run_python(code, cwd=tmp_path) == []


def test_it_shows_how_many_there_are():
    assert repr(tfm) == f"<{len(tfm)} transforms>"
    assert repr(tfm.finn) == f"<{len(tfm.finn)} transforms of finn>"


def registry_of(*records):
    registry = Registry()
    registry.replace_discovered(Snapshot(list(records), {}, [], [], [], [], (), 0.0))
    return registry


def kernel(name, framework):
    return PluginInfo(name=name, framework=framework, type="kernel", reference=f"{framework}.k:{name}")


def backend(name, framework, of, kind="hls"):
    return PluginInfo(
        name=name,
        framework=framework,
        type="backend",
        kernel=of,
        backend_type=kind,
        reference=f"{framework}.b:{name}",
    )


def test_pitfall_19_backends_are_matched_by_what_they_state_and_never_by_their_names():
    registry = registry_of(
        kernel("Norm", "brainsmith"),
        kernel("Norm", "finn"),
        kernel("LayerNorm", "finn"),
        kernel("Only", "acme"),
        backend("NormHLS", "brainsmith", "Norm"),
        backend("Norm_hls", "finn", "Norm"),
        backend("LayerNorm_hls", "finn", "LayerNorm"),
        backend("Norm_rtl", "acme", "finn:Norm", "rtl"),
        backend("Fast", "bravo", "Norm", "rtl"),
        backend("LayerNormHLS", "acme", "Only"),
        backend("Lost", "acme", "Nowhere"),
    )

    def of(name):
        return backends_of(registry, registry.resolve("kernel", name)).names()

    assert of("Norm") == ["NormHLS", "Fast"] or of("Norm") == ["Fast", "NormHLS"]
    assert sorted(of("finn:Norm")) == ["Norm_hls", "Norm_rtl"]
    assert of("finn:LayerNorm") == ["LayerNorm_hls"]
    assert of("Only") == ["LayerNormHLS"]
    kernels, backends = Kernels("kernel", lambda: registry), Backends("backend", lambda: registry)
    assert kernels.backends("finn:Norm").names() == backends.of("finn:Norm").names()
    with pytest.raises(PluginNotFoundError):
        kernels.backends("Nowhere")


def test_a_plugin_wins_over_a_framework_of_its_name():
    registry = registry_of(
        PluginInfo(name="finn", framework="brainsmith", type="step", reference="json:dumps"),
        PluginInfo(name="x", framework="finn", type="step", reference="json:loads"),
    )
    collection = Collection("step", lambda: registry)
    import json

    assert collection.finn is json.dumps
    assert collection["finn:x"] is json.loads


def test_the_door_reaches_what_lies_above_by_name():
    import brainsmith.plugins as door
    from brainsmith.blueprint.blueprint_plugins import load_blueprint_plugins

    assert door.load_blueprint_plugins is load_blueprint_plugins
    assert "load_blueprint_plugins" in dir(door)
    with pytest.raises(AttributeError, match=r"module 'brainsmith.plugins' has no attribute 'nothing'"):
        door.nothing


def test_every_name_of_the_door_is_where_its_stub_says():
    from importlib import import_module

    import brainsmith.plugins as door
    from brainsmith.cli.plugins_stubs import door_names

    for name, module in door_names().items():
        assert getattr(import_module(module), name) is getattr(door, name)
