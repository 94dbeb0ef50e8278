"""Installed distributions: what their entry points name is found, and nothing of it is imported."""

# ruff: noqa: E501  (the texts are easier to read on one line)

import shutil
import sys
import time

import pytest
from stevedore import ExtensionManager

from brainsmith.plugin.adapters.entry_points import GROUP
from brainsmith.plugin.adapters.group_listing import GroupListing
from brainsmith.plugin.distributions import info_folders
from tests.plugin.installed import run_python, step_file, transform_file

TABLE = """
def plugins():
    \"\"\"All that this package has.\"\"\"
    return {
        "kernels": [{"name": "Norm", "module": "acme_norm.kernel", "class_name": "NormKernel", "is_infrastructure": False,
                     "infer_transform": {"module": "acme_norm.infer", "class_name": "InferNorm"}}],
        "backends": [{"name": "NormHLS", "module": "acme_norm.hls", "class_name": "NormHLS", "target_kernel": "acme:Norm", "language": "hls"}],
        "steps": [{"name": "norm_step", "module": "acme_norm.steps", "func_name": "run_norm", "description": "Do it."}],
    }
"""


@pytest.fixture
def found(manager, no_frameworks):
    """Discover, and return the records of distributions by qualified name; nothing may be imported meanwhile."""

    def discover():
        before = set(sys.modules)
        records = manager.discover_plugins(modes=["full"])
        ours = [info for info in records if info.framework not in ("brainsmith", "qonnx", "finn", "project")]
        imported = {name for name in set(sys.modules) - before if name.partition("_")[0] in ("acme", "bravo")}
        assert imported == set()
        return {f"{info.framework}:{info.key}": info for info in ours}

    return discover


def messages(manager):
    return [str(problem) for problem in manager.problems if "entry point" in str(problem)]


def test_a_single_module_is_scanned(site, found):
    site.install(
        "acme", "1.2", {"all": "acme_one"}, acme_one=transform_file("Tidy", 'stage="tidy", version="9"')
    )
    info = found()["acme:transform:Tidy"]
    assert (info.reference, info.version, info.origin) == ("acme_one:Tidy", "9", f"{site}/acme_one.py:6")
    assert (info["entry_point"], info.distribution_version) == ("all", "1.2")


def test_a_package_is_scanned_with_all_below_it(site, found):
    site.install("acme", "1.2", {"all": "acme_pack"}, acme_pack____init__="", acme_pack__a=step_file("one"))
    site.write("acme_pack/deep/er/b.py", step_file("two"))
    assert {key: info.reference for key, info in found().items()} == {
        "acme:step:one": "acme_pack.a:one",
        "acme:step:two": "acme_pack.deep.er.b:two",
    }


def test_a_module_of_a_package_is_scanned_alone(site, found):
    site.install(
        "acme",
        "1",
        {"all": "acme_pack.sub.b"},
        acme_pack____init__="raise RuntimeError('imported')\n",
        acme_pack__a=step_file("one"),
    )
    site.write("acme_pack/sub/b.py", step_file("two"))
    assert list(found()) == ["acme:step:two"]


def test_a_package_of_a_package_is_scanned(site, found):
    site.install(
        "acme",
        "1",
        {"all": "acme_pack.sub"},
        acme_pack____init__="raise RuntimeError('imported')\n",
        acme_pack__a=step_file("one"),
    )
    site.write("acme_pack/sub/__init__.py", step_file("two"))
    assert list(found()) == ["acme:step:two"]


def test_a_literal_table_is_read(site, found, manager):
    site.install(
        "acme",
        "1.0",
        {"table": "acme_norm:plugins"},
        acme_norm____init__="raise RuntimeError('imported')\n" + TABLE,
    )
    records = found()
    assert messages(manager) == []
    assert {
        key: (i.reference, i.kernel, i.backend_type, i.description, i.version) for key, i in records.items()
    } == {
        "acme:kernel:Norm": ("acme_norm.kernel:NormKernel", None, None, "", "1.0"),
        "acme:backend:NormHLS": ("acme_norm.hls:NormHLS", "Norm", "hls", "", "1.0"),
        "acme:step:norm_step": ("acme_norm.steps:run_norm", None, None, "Do it.", "1.0"),
    }
    kernel = records["acme:kernel:Norm"]
    assert kernel["infer_transform"] == {"module": "acme_norm.infer", "class_name": "InferNorm"}
    assert kernel["is_infrastructure"] is False
    assert kernel.origin == "acme 1.0, entry point 'table'"


@pytest.mark.parametrize(
    ("stated", "kernel"),
    [("Norm", "Norm"), ("acme:Norm", "Norm"), ("all:Norm", "Norm"), ("finn:MVAU", "finn:MVAU")],
)
def test_a_backend_s_kernel_keeps_the_framework_of_another(site, found, stated, kernel):
    table = f"def f():\n    return {{'backends': [{{'name': 'B', 'module': 'm', 'class_name': 'B', 'target_kernel': {stated!r}, 'language': 'rtl'}}]}}\n"
    site.install("acme", "1.0", {"all": "acme_t:f"}, acme_t=table)
    assert found()["acme:backend:B"].kernel == kernel


def test_a_computed_table_is_asked_for_in_a_child_process(site, found, manager):
    computed = """
    import sys
    print("noise on standard output")
    NAMES = ["a", "b"]
    def plugins():
        print("more noise")
        return {"steps": [{"name": f"step_{n}", "module": __name__, "func_name": n} for n in NAMES]}
    def a(model, cfg): return "a"
    def b(model, cfg): return "b"
    """
    site.install("acme", "1.0", {"table": "acme_computed:plugins"}, acme_computed=computed)
    assert sorted(found()) == ["acme:step:step_a", "acme:step:step_b"]
    assert messages(manager) == []
    assert manager.registry.get("step", "step_a")(None, None) == "a"


@pytest.mark.parametrize(
    ("value", "text", "message"),
    [
        ("acme_absent", "", "it names the module 'acme_absent', which is not installed"),
        ("acme_mod.absent", "", "it names the module 'acme_mod.absent', which is not installed"),
        (
            "acme_mod:plugins",
            "import nowhere\ndef plugins(): return {}\n".replace("return {}", "return dict()"),
            "acme_mod:plugins failed with exit code 1: ModuleNotFoundError: No module named 'nowhere'",
        ),
        (
            "acme_mod:plugins",
            "def plugins():\n    raise ValueError('not today')\n",
            "acme_mod:plugins failed with exit code 1: ValueError: not today",
        ),
        (
            "acme_mod:plugins",
            "x = 1\n",
            "acme_mod:plugins failed with exit code 1: AttributeError: module 'acme_mod' has no attribute 'plugins'",
        ),
        (
            "acme_mod:plugins",
            "def plugins():\n    return []\n",
            "acme_mod:plugins must return a dict of lists, not list",
        ),
        (
            "acme_mod:plugins",
            "def plugins():\n    return {'kernel': []}\n",
            "its table has the unknown key 'kernel'; the keys are transforms, kernels, backends, steps",
        ),
        (
            "acme_mod:plugins",
            "def plugins():\n    return {'kernels': {'a': 1}}\n",
            "its kernels must be a list, not dict",
        ),
        (
            "acme_mod:plugins",
            "def plugins():\n    return {'kernels': None}\n",
            "its kernels must be a list, not NoneType",
        ),
        (
            "acme_mod:plugins",
            "def plugins():\n    return {'steps': ['x']}\n",
            "an entry of its steps lacks name, module, func_name: 'x'",
        ),
        (
            "acme_mod:plugins",
            "def plugins():\n    return {'steps': [{'name': 'x', 'module': 'm'}]}\n",
            "an entry of its steps lacks func_name: {'name': 'x', 'module': 'm'}",
        ),
        (
            "acme_mod:plugins",
            "def plugins():\n    return {'steps': [{'name': 5, 'module': 'm', 'func_name': 'f'}]}\n",
            "name of an entry of its steps must be a string, not 5",
        ),
        (
            "acme_mod:plugins",
            "def plugins():\n    return {'steps': [{'name': 'x', 'module': 'm', 'func_name': 'f', 'priority': 'high'}]}\n",
            "priority of an entry of its steps must be a number, not 'high'",
        ),
        (
            "acme_mod:plugins",
            "def plugins():\n    return {'backends': [{'name': 'x', 'module': 'm', 'class_name': 'f', 'target_kernel': 'K'}]}\n",
            "backend 'x' needs target_kernel, and language hls or rtl; found {'name': 'x', 'module': 'm', 'class_name': 'f', 'target_kernel': 'K'}",
        ),
        (
            "acme_mod:plugins",
            "import os\ndef plugins():\n    os.write(1, b'x')\n    return {'steps': ()}\n",
            None,
        ),
        (
            "acme_mod:plugins",
            "def plugins():\n    return {'steps': {1, 2}} or f()\n",
            "acme_mod:plugins failed with exit code 1: TypeError: Object of type set is not JSON serializable",
        ),
        (
            "acme_mod:plugins",
            "def plugins(:\n",
            "acme_mod:plugins failed with exit code 1: SyntaxError: invalid syntax",
        ),
    ],
)
def test_what_is_wrong_is_told_and_leaves_the_others(site, found, manager, value, text, message):
    """Pitfall 2: a failing plugin must not drop others, nor its framework."""
    site.install("acme", "1.0", {"all": value}, acme_mod=text)
    site.install("bravo", "2.0", {"fine": "bravo_steps"}, bravo_steps=step_file("fine"))
    assert list(found()) == ["bravo:step:fine"]
    assert messages(manager) == ([f"acme 1.0, entry point 'all': {message}"] if message else [])
    statuses = {summary["name"]: summary["status"] for summary in manager.adapters}
    assert "failed" not in statuses.values()


@pytest.mark.slow
def test_installed_plugins_appear_and_vanish_between_two_calls(site, found):
    """Pitfall 5: a newly installed package is seen at the next call."""
    assert found() == {}
    info = site.install("acme", "1.0", {"all": "acme_one"}, acme_one=step_file("one"))
    assert list(found()) == ["acme:step:one"]
    site.install("bravo", "1.0", {"all": "bravo_one"}, bravo_one=step_file("one"))
    assert sorted(found()) == ["acme:step:one", "bravo:step:one"]
    shutil.rmtree(info)
    assert list(found()) == ["bravo:step:one"]


@pytest.mark.slow
def test_pitfall_05_an_upgrade_is_seen(site, found):
    info = site.install("acme", "1.0", {"all": "acme_one"}, acme_one=step_file("one"))
    assert found()["acme:step:one"]["distribution_version"] == "1.0"
    shutil.rmtree(info)
    site.install("acme", "1.1", {"all": "acme_one"}, acme_one=step_file("two"))
    records = found()
    assert list(records) == ["acme:step:two"]
    assert records["acme:step:two"]["distribution_version"] == "1.1"


def test_a_changed_list_of_entry_points_is_seen(site, found):
    info = site.install(
        "acme", "1.0", {"all": "acme_one"}, acme_one=step_file("one"), acme_two=step_file("two")
    )
    assert list(found()) == ["acme:step:one"]
    (info / "entry_points.txt").write_text("[brainsmith.plugins]\nall = acme_two\n")
    assert list(found()) == ["acme:step:two"]


def test_a_changed_module_of_a_table_is_seen(site, found):
    site.install(
        "acme",
        "1.0",
        {"t": "acme_t:plugins"},
        acme_t="def plugins():\n    return {'steps': [{'name': 'one', 'module': 'm', 'func_name': 'f'}]}\n",
    )
    assert list(found()) == ["acme:step:one"]
    site.write(
        "acme_t.py",
        "def plugins():\n    return {'steps': [{'name': 'two', 'module': 'm', 'func_name': 'f'}]}\n",
    )
    assert list(found()) == ["acme:step:two"]


def test_a_module_that_is_missing_and_comes_is_seen(site, found):
    site.install("acme", "1.0", {"all": "acme_late"})
    assert found() == {}
    time.sleep(0.07)  # all that was read is older than a tick of the file system's clock
    assert found() == {}
    site.write("acme_late.py", step_file("one"))
    assert list(found()) == ["acme:step:one"]


def test_two_distributions_with_one_name_are_ordered_by_priority(site, found, manager):
    for name, priority in (("acme", 40), ("bravo-plugins", 60)):
        module = name.partition("-")[0] + "_one"
        text = f"from brainsmith.plugin.core import step\n@step(priority={priority})\ndef same(model, cfg): return {name!r}\n"
        site.install(name, "1.0", {"all": module}, **{module: text})
    found()
    registry = manager.registry
    assert registry.resolve("step", "same").framework == "bravo-plugins"
    assert registry.get("step", "same")(None, None) == "bravo-plugins"
    assert registry.get("step", "acme:same")(None, None) == "acme"
    from brainsmith.plugins import steps

    assert steps.bravo_plugins.same is registry.get("step", "bravo-plugins:same")
    assert "bravo_plugins" in dir(steps)


@pytest.mark.slow
def test_two_distributions_in_one_process_register_under_their_own_names(site, manager):
    """Importing them before any discovery must not make them one framework."""
    for name in ("acme", "bravo"):
        site.install(name, "1.0", {"all": f"{name}_same"}, **{f"{name}_same": step_file("same", name)})
    code = """
    import json, acme_same, bravo_same
    from brainsmith.plugin.core import get_registry
    registry = get_registry()
    print(json.dumps([[i.qualified for i in registry.records("step") if i.name == "same"], registry.get("step", "bravo:same") is bravo_same.same]))
    """
    assert run_python(code, path=[site]) == [["acme:same", "bravo:same"], True]


def test_several_entry_points_of_one_distribution_may_name_the_same(site, found, manager):
    site.install(
        "acme",
        "1.0",
        {"all": "acme_pack", "steps": "acme_pack.a"},
        acme_pack____init__="",
        acme_pack__a=step_file("one"),
    )
    assert list(found()) == ["acme:step:one"]
    assert [i.name for i in manager.registry.records("step", "acme")] == ["one"]
    assert manager.registry.get("step", "one")(1, 2) is None


def test_a_distribution_is_named_as_the_index_compares_names(site, found):
    site.install("Acme_Plugins.More", "1.0", {"all": "acme_one"}, acme_one=step_file("one"))
    assert list(found()) == ["acme-plugins-more:step:one"]


def test_a_distribution_of_another_group_is_not_read(site, found):
    info = site.install("acme", "1.0", {"all": "acme_one"}, acme_one=step_file("one"))
    (info / "entry_points.txt").write_text("[console_scripts]\nacme = acme_one:main\n")
    assert found() == {}


def test_metadata_that_is_broken_leaves_the_others(site, found):
    broken = site.install("acme", "1.0", {"all": "acme_one"}, acme_one=step_file("one"))
    (broken / "METADATA").unlink()
    worse = site.install("bravo", "1.0", {"all": "bravo_one"}, bravo_one=step_file("two"))
    (worse / "entry_points.txt").write_bytes(b"[brainsmith.plugins]\nall bravo_one\n\xff\n")
    site.install("charlie", "1.0", {"all": "charlie_one"}, charlie_one=step_file("three"))
    assert sorted(found()) == ["acme:step:one", "charlie:step:three"]


def listed(site, zipped=False, wanted=lambda offer: True):
    listing = GroupListing(GROUP, info_folders([str(site)]), zipped, wanted)
    assert [extension.name for extension in listing] == listing.names()
    return [(offer.distribution, offer.version, offer.name) for offer in (one.plugin for one in listing)]


def test_the_list_is_stevedore_s_own(site, monkeypatch):
    """Its managers load what they list: that gives the entry point with its distribution, and no module is imported."""
    asked = []
    real = ExtensionManager.list_entry_points
    monkeypatch.setattr(
        ExtensionManager, "list_entry_points", lambda self: asked.append(real(self)) or asked[-1]
    )
    monkeypatch.syspath_prepend(str(site))
    site.install("acme", "1.0", {"all": "acme_one", "b": "acme_one:x"}, acme_one="raise RuntimeError\n")
    site.install("bravo", "1.0", {"all": "bravo_one"})
    assert sorted(listed(site)) == [("acme", "1.0", "all"), ("acme", "1.0", "b"), ("bravo", "1.0", "all")]
    targets = [("all", "acme_one"), ("all", "bravo_one"), ("b", "acme_one:x")]
    assert [sorted((entry.name, entry.value) for entry in one) for one in asked] == [targets]


def test_what_stevedore_does_not_list_is_left_out(site, monkeypatch):
    """Two folders of one distribution, whose names Python compares as indexes do (PEP 503): the first one counts."""
    monkeypatch.syspath_prepend(str(site))
    (site.install("acme-tools", "1.0", {"one": "acme_one"})).rename(site / "acme.tools-1.0.dist-info")
    site.install("acme-tools", "2.0", {"two": "acme_two"})
    assert len(listed(site)) == 1


def test_what_a_folder_and_python_s_own_finders_have_is_listed_once(site, monkeypatch):
    monkeypatch.syspath_prepend(str(site))
    site.install("acme", "1.0", {"one": "acme_one"}, acme_one=step_file("one"))
    found = listed(site, zipped=True, wanted=lambda offer: offer.distribution == "acme")
    assert found == [("acme", "1.0", "one")]


def test_the_lists_that_others_ask_of_stevedore_stay_theirs(site, found, monkeypatch):
    monkeypatch.setitem(ExtensionManager.ENTRY_POINT_CACHE, GROUP, ["stale"])
    site.install("acme", "1.0", {"all": "acme_one"}, acme_one=step_file("one"))
    before = list(sys.path)
    assert list(found()) == ["acme:step:one"]
    assert ExtensionManager.ENTRY_POINT_CACHE[GROUP] == ["stale"]
    assert sys.path == before


def test_stevedore_lists_what_comes_goes_and_changes_while_a_process_runs(site, monkeypatch):
    """Its own list is read once for each `sys.path`, so plain stevedore goes on saying what was there at first."""
    monkeypatch.syspath_prepend(str(site))
    site.install("acme", "1.0", {"one": "acme_one"})
    plain = ExtensionManager.make_test_instance([], namespace=GROUP)
    monkeypatch.setattr(ExtensionManager, "ENTRY_POINT_CACHE", {})
    at_first = plain.entry_points_names()
    assert listed(site) == [("acme", "1.0", "one")]
    bravo = site.install("bravo", "2.0", {"two": "bravo_two", "left_out": "bravo_two:x"})
    assert sorted(listed(site, wanted=lambda offer: offer.name != "left_out")) == [
        ("acme", "1.0", "one"),
        ("bravo", "2.0", "two"),
    ]
    (bravo / "entry_points.txt").write_text(f"[{GROUP}]\nTWO = bravo_two\n")
    assert sorted(listed(site)) == [("acme", "1.0", "one"), ("bravo", "2.0", "TWO")]
    shutil.rmtree(bravo)
    assert listed(site) == [("acme", "1.0", "one")]
    assert plain.entry_points_names() == at_first


@pytest.mark.slow
def test_a_list_on_disk_that_is_damaged_costs_nothing(site, tmp_path):
    code = f"""
    import json, sys
    sys.executable = "/usr/bin/python3"  # below /tmp stevedore keeps nothing
    from brainsmith.plugin.adapters.group_listing import GroupListing
    from brainsmith.plugin.distributions import info_folders
    print(json.dumps([one.name for one in GroupListing({GROUP!r}, info_folders([{str(site)!r}]), False, bool)]))
    """
    site.install("acme", "1.0", {"one": "acme_one"})
    for content in (b"{", b"[]"):
        assert run_python(code, path=[site], XDG_CACHE_HOME=str(tmp_path / "fresh")) == ["one"]
        (file,) = (tmp_path / "fresh" / "python-entrypoints").iterdir()
        file.write_bytes(content)
    assert run_python(code, path=[site], XDG_CACHE_HOME=str(tmp_path / "fresh")) == ["one"]


def test_of_the_distributions_that_are_not_asked_for_nothing_is_read(site, manager):
    site.install("acme-tools", "1.0", {"all": "acme_one"}, acme_one=step_file("one"))
    ran = site / "ran"
    bad = f"open({str(ran)!r}, 'w').close()\ndef plugins():\n    return dict(nothing=1)\n"
    site.install("bravo", "1.0", {"all": "bravo_mod:plugins"}, bravo_mod=bad)
    for name in ("acme-tools", "acme_tools"):
        records = manager.discover_plugins(modes=["selective"], frameworks=[name])
        assert [(info.framework, info.name) for info in records] == [("acme-tools", "one")]
        assert messages(manager) == []
    assert not ran.exists()
    manager.discover_plugins(modes=["selective"], frameworks=["bravo"])
    assert ran.exists()
