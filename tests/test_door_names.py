"""What a collection and the registry list agrees with what they give: names, attributes, numbers."""

import pickle
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import brainsmith.plugins
from brainsmith.errors import AmbiguousPluginError, BrainsmithError
from brainsmith.plugin.collections import Collection
from brainsmith.plugin.info import PLUGIN_TYPES, PluginInfo
from brainsmith.plugin.plugin_registry import Registry
from brainsmith.plugin.snapshot import Snapshot
from brainsmith.plugins import backends as bk
from brainsmith.plugins import kernels as kn
from brainsmith.plugins import steps
from brainsmith.plugins import transforms as tfm
from tests.plugin.installed import run_python

AMBIGUOUS = "MoveOpPastFork"


def registry_of(records):
    registry = Registry()
    registry.replace_discovered(Snapshot(list(records), {}, [], [], [], [], (), 0.0))
    return registry


RECORDS = st.lists(
    st.builds(
        lambda kind, name, framework, number: PluginInfo(
            type=kind, name=name, framework=framework, reference=f"m{number}:{name}", priority=50 + number
        ),
        st.sampled_from(PLUGIN_TYPES[:2]),
        st.sampled_from("ABC"),
        st.sampled_from(["project", "brainsmith", "acme", "other", "qonnx", "finn"]),
        st.integers(0, 1),
    ),
    unique_by=lambda info: (info.type, info.name, info.framework),
)


@given(RECORDS)
def test_keys_items_values_and_len_agree_and_each_key_gives_its_record(records):
    registry = registry_of(records)
    assert (
        len(registry)
        == len(registry.keys())
        == len(registry.items())
        == len(registry.values())
        == len(records)
    )
    assert dict(registry) == dict(registry.items())
    assert list(registry) == registry.keys()
    assert all(registry[key] is info for key, info in registry.items())
    assert set(registry.values()) == set(records)


@given(RECORDS)
def test_of_a_collection_too_and_dir_lists_exactly_the_names_that_are_attributes(records):
    registry = registry_of(records)
    collection = Collection("transform", lambda: registry)
    assert (
        len(collection)
        == len(collection.items())
        == len(collection.values())
        == len(collection.list_plugins())
    )
    assert len(dict(collection.items())) == len(collection)
    assert all(collection.get_info(name) is info for name, info in collection.items())
    listed = set(dir(collection)) & set("ABC")
    for name in "ABC":
        try:
            collection.get_info(name)
            found = True
        except BrainsmithError:
            found = False
        assert (name in listed) is found


def test_two_objects_that_clash_are_one_entry_and_no_attribute():
    pair = [PluginInfo(type="step", name="x", framework="project", reference=f"m{n}:x") for n in (1, 2)]
    registry = registry_of(pair)
    collection = Collection("step", lambda: registry)
    assert (registry.keys(), len(registry)) == (["step:project:x"], 1)
    assert "x" not in dir(collection)
    assert collection.items() == [("project:x", pair[0]), ("project:x", pair[1])]


@pytest.mark.parametrize("collection", [tfm, kn, bk, steps, tfm.finn])
def test_the_real_collections_agree(collection):
    assert (
        len(collection)
        == len(collection.items())
        == len(collection.values())
        == len(dict(collection.items()))
    )


def test_a_name_that_only_frameworks_have_and_several_do_is_no_attribute():
    assert hasattr(tfm, AMBIGUOUS) is False
    assert getattr(tfm, AMBIGUOUS, None) is None
    assert AMBIGUOUS not in dir(tfm)
    assert AMBIGUOUS in dir(tfm.finn)
    assert AMBIGUOUS in dir(tfm.qonnx)
    assert AMBIGUOUS in tfm  # it is there, under two names
    with pytest.raises(AmbiguousPluginError) as caught:
        getattr(tfm, AMBIGUOUS)
    assert str(caught.value) == (
        "transform 'MoveOpPastFork' exists in several frameworks; say which: finn:MoveOpPastFork, qonnx:MoveOpPastFork"
    )


def test_tab_in_a_plain_interpreter_offers_plugins_and_imports_none(tmp_path):
    code = """
    import json, sys
    from rlcompleter import Completer
    import brainsmith.plugins
    from brainsmith.plugins import backends as bk, kernels as kn, ops, steps, transforms as tfm
    before = set(sys.modules)
    complete = Completer(globals()).attr_matches
    texts = ("tfm.Move", "tfm.finn.Stream", "kn.", "bk.", "ops.", "steps.clean", "tfm.", "brainsmith.plugins.")
    offered = {text: complete(text) for text in texts}
    print(json.dumps([offered, sorted(set(sys.modules) - before)]))
    """
    offered, imported = run_python(code, cwd=tmp_path)
    heavy = (
        "brainsmith.transforms",
        "brainsmith.kernels",
        "brainsmith.steps",
        "qonnx",
        "finn",
        "numpy",
        "onnx",
    )
    assert [name for name in imported if name.startswith(heavy)] == []
    assert "tfm.MoveOpPastFork" not in offered["tfm.Move"]
    assert "tfm.MoveAddPastMul" in offered["tfm.Move"]
    assert offered["tfm.finn.Stream"] == ["tfm.finn.Streamline"]
    assert offered["steps.clean"] == ["steps.cleanup"]
    assert {"kn.LayerNorm", "kn.finn"} <= set(offered["kn."])
    assert [text.rstrip("()").rpartition(".")[2] for text in offered["brainsmith.plugins."]] == sorted(
        dir(brainsmith.plugins)
    )
    assert {"tfm.ExpandNorms", "tfm.finn", "tfm.list_plugins()"} <= set(offered["tfm."])


def test_a_collection_s_class_has_no_attribute_that_is_no_plugin():
    with pytest.raises(
        AttributeError, match=re.escape("type object 'Collection' has no attribute 'nothing'")
    ):
        Collection.nothing
    assert isinstance(vars(type(tfm)).get("items"), type(Collection.items))
    assert not isinstance(tfm.items, property)


def test_the_record_s_class_is_imported_from_the_door():
    from brainsmith import plugins

    assert plugins.PluginInfo is PluginInfo
    assert isinstance(tfm.get_info("ExpandNorms"), plugins.PluginInfo)
    assert pickle.loads(pickle.dumps(tfm.get_info("ExpandNorms"))) == tfm.get_info("ExpandNorms")
