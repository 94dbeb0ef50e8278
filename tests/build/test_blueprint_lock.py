"""Locks: what builds use, by version and content; what differs is refused, and named with old and new."""

import json
import re
import sys
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from brainsmith.blueprint.resolve import check_blueprint
from brainsmith.build import build
from brainsmith.build.blueprint_lock import (
    LockChange,
    changes,
    hold_to_lock,
    lock_file,
    read_lock,
    upgraded,
    used_by,
    write_lock,
)
from brainsmith.errors import LockError
from brainsmith.plugin.manager import get_plugin_manager, reset_plugin_system
from brainsmith.store.fingerprint import digest
from tests.build import graphs
from tests.plugin.installed import Site, step_file

KINDS = ("plugin", "plugin file", "package", "tool")
NOTHING = {kind: {} for kind in KINDS}
ANEW = "brainsmith lock writes it anew"
PLUGIN = """\
from brainsmith.plugin.core import step


@step(version="{version}")
def tidy(model, cfg):
    return model
"""


@pytest.fixture
def project(tmp_path, monkeypatch):
    (tmp_path / ".brainsmith").mkdir()
    monkeypatch.chdir(tmp_path)
    site = Site(tmp_path)
    site.write("plugins/tidy.py", PLUGIN.format(version="1.0"))
    site.write("plugins/table.csv", "1, 2\n")
    site.write("b.yaml", "hw_compiler:\n  steps: [cleanup, tidy]\n")
    return site


def now():
    reset_plugin_system()
    registry, _ = get_plugin_manager().all_records()
    _, selection = check_blueprint("b.yaml", registry)
    return used_by(selection, registry), selection, registry


def test_what_a_build_uses(project):
    used, *_ = now()
    assert set(used) == set(KINDS)
    assert used["plugin"]["step:project:tidy"].startswith("1.0 (")
    assert used["plugin"]["step:brainsmith:cleanup"].startswith("0.1.0 of brainsmith 0.1.0 (")
    assert {"step:brainsmith:rtl_stitch", "step:brainsmith:rtl_synthesise"} <= set(used["plugin"])
    assert set(used["plugin file"]) == {"plugins/tidy.py", "plugins/table.csv"}
    assert {"python", "brainsmith", "qonnx", "onnx", "numpy"} <= set(used["package"])
    assert set(used["tool"]) <= {"g++", "make"} and "missing" not in used["package"].values()
    assert str(project) not in json.dumps(used)


def test_a_lock_holds_in_another_place_and_what_changed_is_named_with_old_and_new(
    project, tmp_path, monkeypatch
):
    used, *_ = now()
    write_lock(Path("b.lock"), used)
    other = tmp_path / "elsewhere" / "else"
    (other / ".brainsmith").mkdir(parents=True)
    monkeypatch.chdir(other)
    site = Site(other)
    for name in ("plugins/tidy.py", "plugins/table.csv", "b.yaml", "b.lock"):
        site.write(name, (tmp_path / name).read_bytes())
    there, selection, registry = now()
    assert there == used == read_lock(Path("b.lock"))
    hold_to_lock(Path("b.lock"), selection, registry)
    site.write("plugins/tidy.py", PLUGIN.format(version="1.1"))
    site.write("plugins/new.py", step_file("new"))
    (other / "plugins/table.csv").unlink()
    there, selection, registry = now()
    with pytest.raises(LockError) as caught:
        hold_to_lock(Path("b.lock"), selection, registry)
    lines = str(caught.value).splitlines()
    new, tidy = (there["plugin"][f"step:project:{name}"][:-29] for name in ("new", "tidy"))
    assert lines == [
        "b.lock does not hold here:",
        f"  plugin step:project:new is new: {new})",
        f"  plugin step:project:tidy was {used['plugin']['step:project:tidy'][:-29]}), and is {tidy})",
        "  plugin file plugins/new.py is new",
        "  plugin file plugins/table.csv is no longer used or not installed",
        "  plugin file plugins/tidy.py has other content",
        "  to take one of these over: brainsmith lock b.yaml --upgrade NAME; without --upgrade all",
    ]


def test_a_plugin_that_hides_a_frameworks_is_seen_though_no_blueprint_names_it(project):
    write_lock(Path("b.lock"), now()[0])
    project.write("plugins/cleanup.py", step_file("cleanup"))
    with pytest.raises(LockError, match=r"plugin step:project:cleanup is new"):
        hold_to_lock(Path("b.lock"), *now()[1:])


def test_a_lock_may_hold_more_of_a_frameworks_plugins_than_a_build_uses(project):
    used, selection, registry = now()
    more = {**used, "plugin": {**used["plugin"], "step:finn:step_tidy_up": "1.6.1 of finn 1.6.1 (0)"}}
    write_lock(Path("b.lock"), more)
    hold_to_lock(Path("b.lock"), selection, registry)
    assert [each.is_of_unused for each in changes(more, used)] == [True]


@pytest.mark.slow
def test_a_locked_build_is_refused_before_anything_runs_and_states_its_lock(project):
    graphs.quant_mlp().save("net.onnx")
    with pytest.raises(LockError) as caught:
        build("net.onnx", blueprint="b.yaml", output="out", report=False, locked=True)
    assert str(caught.value) == "there is no b.lock: brainsmith lock b.yaml writes it"
    write_lock(Path("b.lock"), now()[0])
    build("net.onnx", blueprint="b.yaml", output="out", report=False, locked=True)
    statement = json.loads(Path("out/provenance.json").read_text())
    used_as = {
        one["annotations"]["used as"]: one["name"]
        for one in statement["predicate"]["buildDefinition"]["resolvedDependencies"]
    }
    assert used_as["lock"] == "b.lock"
    project.write("plugins/table.csv", "1, 3\n")
    reset_plugin_system()
    with pytest.raises(LockError, match=r"plugin file plugins/table.csv has other content"):
        build("net.onnx", blueprint="b.yaml", output="out2", report=False, locked=True)
    assert not Path("out2").exists()


def test_two_folders_of_one_name_are_told_apart(project, tmp_path):
    site = Site(tmp_path / "more")
    site.write("plugins/tidy.py", step_file("other"))
    project.write(
        ".brainsmith/config.yaml", f"plugin_system: {{plugin_folders: [{tmp_path}/more/plugins]}}\n"
    )
    assert set(now()[0]["plugin file"]) == {"plugins/tidy.py", "plugins/table.csv", "plugins (2)/tidy.py"}


@pytest.mark.parametrize("given", [[], ["a.yaml", "b.yaml"]])
def test_a_lock_is_that_of_one_blueprint(given):
    found = "2 files" if given else "no blueprint"
    with pytest.raises(LockError) as caught:
        lock_file(given)
    assert str(caught.value) == (
        f"a lock is that of one blueprint, and this build has {found}: let one file extend the others (extends:)"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is damaged: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        (
            "[" * 100_000,
            "is damaged: maximum recursion depth exceeded while decoding a JSON array from a unicode string",
        ),
        ("[]", "is no lock of this version of BrainSmith: its 'lock' must be 1, not None"),
        ('{"lock": 9}', "is no lock of this version of BrainSmith: its 'lock' must be 1, not 9"),
        ('{"lock": 1, "plugin": {"a": 1}}', "is damaged: 'plugin' must be a table of texts"),
    ],
)
def test_a_damaged_lock_is_refused(tmp_path, monkeypatch, text, message):
    monkeypatch.chdir(tmp_path)
    Path("b.lock").write_text(text)
    with pytest.raises(LockError) as caught:
        read_lock(Path("b.lock"))
    assert str(caught.value) == f"b.lock {message}; {ANEW}"


def test_a_lock_that_cannot_be_written(tmp_path):
    with pytest.raises(LockError, match=r"none/b.lock cannot be written: No such file or directory"):
        write_lock(tmp_path / "none" / "b.lock", NOTHING)


tables = st.dictionaries(
    st.sampled_from(["step:acme:a", "step:acme:b", "kernel:finn:c"]), st.text(max_size=3)
)
environments = st.fixed_dictionaries(dict.fromkeys(KINDS, tables))


@example(NOTHING, {**NOTHING, "plugin file": {"a.py": "0", "b.py": "0"}})
@given(environments, environments)
def test_what_is_taken_over_is_as_it_is_here_and_all_else_as_it_was(before, here):
    found = changes(before, here)
    for each in found:
        made = upgraded(before, here, [each.name])
        left = changes(made, here)
        assert {(one.kind, one.name) for one in left} == {
            (one.kind, one.name) for one in found if one.name != each.name
        }
        assert all(made[one.kind].get(one.name) == one.before for one in left)
    assert upgraded(before, here, [each.name for each in found]) == here
    assert changes(before, before) == []


contents = st.sampled_from([None, "1", "2"])


@given(st.lists(st.tuples(contents, contents, st.integers(0, 3)), min_size=1), st.data())
def test_a_plugin_and_its_file_are_taken_over_together(files, data):
    """Of no file but its own: each is (content before, content now, number of plugins in it)."""
    states = [], []
    for which, state in enumerate(states):
        for number, (*versions, plugins) in enumerate(files):
            if versions[which] is not None:
                content = digest(f"{number} {versions[which]}")
                state.append(("plugin file", f"plugins/f{number}.py", content))
                state.extend(
                    ("plugin", f"step:project:s{number}_{plugin}", f"1.0 ({content})")
                    for plugin in range(plugins)
                )
    before, here = (
        {kind: {name: value for of, name, value in state if of == kind} for kind in KINDS} for state in states
    )
    found = changes(before, here)
    if found:
        taken = data.draw(st.sampled_from(found))
        own = re.search(r"[fs](\d+)[._]", taken.name)[1]
        left = changes(upgraded(before, here, [taken.name]), here)
        assert left == [each for each in found if re.search(r"[fs](\d+)[._]", each.name)[1] != own]


def test_names_of_what_is_taken_over():
    before = {**NOTHING, "plugin": {"step:acme:tidy": "1", "kernel:acme:tidy": "1"}}
    here = {**NOTHING, "plugin": {"step:acme:tidy": "2", "kernel:acme:tidy": "2"}}
    assert changes(upgraded(before, here, ["step:acme:tidy"]), here) == [
        LockChange("plugin", "kernel:acme:tidy", "1", "2")
    ]
    assert upgraded(before, here, ["acme:tidy"]) == upgraded(before, here, ["tidy"]) == here
    with pytest.raises(LockError) as caught:
        upgraded(before, here, ["tity"])
    assert str(caught.value) == "neither the lock nor what is here has 'tity'. Did you mean 'tidy'?"


def test_all_files_of_plugins_are_in_it_and_those_of_tables(project):
    project.write("plugins/weights.npz", b"1")
    site = Site(project.folder / "site")
    source = (
        "def tidy_table(model, cfg):\n    return model\n\n\ndef plugins():\n    return {'steps': [ENTRY]}\n"
    )
    source = source.replace(
        "ENTRY", "{'name': 'tidy_table', 'module': 'acme_tables', 'func_name': 'tidy_table'}"
    )
    site.folder.mkdir()
    site.install("acme", "1.0", {"table": "acme_tables:plugins"}, acme_tables=source)
    sys.path.insert(0, str(site))
    try:
        before, *_ = now()
        assert {"plugins/weights.npz", "acme_tables.py/acme_tables.py"} <= set(before["plugin file"])
        assert before["plugin"]["step:acme:tidy_table"].startswith("1.0 of acme 1.0 (")
        project.write("plugins/weights.npz", b"2")
        site.write("acme_tables.py", source.replace("return model", "return  model"))
        after, *_ = now()
    finally:
        sys.path.remove(str(site))
    assert [(each.kind, each.name) for each in changes(before, after)] == [
        ("plugin", "step:acme:tidy_table"),
        ("plugin file", "acme_tables.py/acme_tables.py"),
        ("plugin file", "plugins/weights.npz"),
    ]
