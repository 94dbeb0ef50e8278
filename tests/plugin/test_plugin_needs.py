"""What plugins ask of each other: read from text, followed in the order of need, and which of several versions is meant."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainsmith.cli.main import main
from brainsmith.errors import PluginDefinitionError, PluginUnavailableError
from brainsmith.plugin.info import PluginInfo
from brainsmith.plugin.plugin_needs import Need, VersionLimits, read_need, required_by
from brainsmith.plugin.plugin_versions import is_within, versions_problem
from brainsmith.plugin.precedence import chosen
from brainsmith.plugins import steps
from tests.plugin.installed import step_file

FORM = "must be [type:][framework:]Name, and perhaps versions, such as 'kernel:acme:MatMul >=2,<3', not "


def record(name, *needs, type="step", framework="acme", version="1.0", **more):
    return PluginInfo(
        name=name, type=type, framework=framework, reference=f"{framework}:{name}", version=version,
        requires_plugins=needs, origin=f"{framework}/{name}.py:1", **more,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("cleanup", ("step", "cleanup", "")),
        ("acme:cleanup>=2", ("step", "acme:cleanup", ">=2")),
        ("kernel:MatMul", ("kernel", "MatMul", "")),
        ("kernel:acme-ops:MatMul  ~=1.6, !=1.6.2", ("kernel", "acme-ops:MatMul", "~=1.6, !=1.6.2")),
        ("kernel", ("step", "kernel", "")),
    ],
)
def test_a_need_is_read_from_its_text(text, parts):
    need = read_need(text, "step", "me")
    assert (need.type, need.name, need.versions) == parts
    assert read_need(str(need), "transform", "me") == need


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", FORM + "''"),
        (">=2", FORM + "'>=2'"),
        ("two words", FORM + "'two words'"),
        ("a:b:c:d", FORM + "'a:b:c:d'"),
        (":MatMul", FORM + "':MatMul'"),
        (
            "MatMul >=two",
            "names 'MatMul', whose versions must be comparisons such as '>=2,<3' or '~=1.6', not '>=two'",
        ),
        (
            "MatMul >=1,~=9",
            "names 'MatMul', whose versions must be comparisons such as '>=2,<3' or '~=1.6', not '>=1,~=9'"
            "; '~=' needs two numbers or more (PEP 440): '~=9.0' is '>=9.0,<10'",
        ),
    ],
)
def test_a_text_that_is_none_is_refused(text, message):
    with pytest.raises(ValueError) as caught:
        read_need(text, "step", "me")
    assert str(caught.value) == message


def test_what_a_plugin_requires_comes_before_it_each_once():
    known = {
        one.name: one
        for one in (record("a", "b", "c"), record("b", "d"), record("c", "d", "b"), record("d"), record("e"))
    }
    assert [one.name for one in required_by(known["a"], lambda need: known[need.name])] == ["d", "b", "c"]
    assert required_by(known["d"], lambda need: known[need.name]) == []


names = st.sampled_from("abcdefgh")


@given(st.dictionaries(names, st.lists(names, max_size=3), min_size=1))
def test_the_order_is_one_of_need_or_a_circle_is_named(graph):
    known = {name: record(name, *graph.get(name, ())) for name in "abcdefgh"}
    for name, info in known.items():
        try:
            found = [one.name for one in required_by(info, lambda need: known[need.name])]
        except PluginUnavailableError as error:
            circle = str(error).rpartition(": ")[2].split(" > ")
            steps_of = [text.rpartition(":")[2] for text in circle]
            assert steps_of[0] == steps_of[-1]
            assert all(b in graph[a] for a, b in pairwise(steps_of))
            continue
        assert len(found) == len(set(found)) and name not in found
        order = [*found, name]
        assert all(order.index(need) < order.index(one) for one in order for need in graph.get(one, ()))


def test_a_circle_another_version_and_a_missing_plugin_are_refused_with_the_way_there():
    known = {
        one.name: one for one in (record("a", "b"), record("b", "c >=2"), record("c", "a", version="1.5"))
    }

    def find(need):
        return known[need.name]

    with pytest.raises(PluginUnavailableError) as caught:
        required_by(known["a"], find)
    assert str(caught.value) == (
        "step 'acme:a' (acme/a.py:1) cannot be used here: it requires step:c >=2 (required by step acme:a > step acme:b), "
        "and acme:c has 1.5"
    )
    known["c"] = record("c", "a", version="2.5")
    with pytest.raises(PluginUnavailableError) as caught:
        required_by(known["a"], find)
    assert str(caught.value) == (
        "step 'acme:a' (acme/a.py:1) cannot be used here: plugins require each other: "
        "step acme:a > step acme:b > step acme:c > step acme:a"
    )
    known["b"] = record("b", "c", version="")
    known["c"] = record("c", version="")
    assert [one.name for one in required_by(known["a"], find)] == ["c", "b"]


def test_the_highest_version_is_meant_among_distributions_of_one_priority():
    old, new = record("a", framework="acme", version="2.9"), record("a", framework="beta", version="2.10")
    none = record("a", framework="aaa", version="")
    assert chosen([old, new, none]) is new
    assert chosen([old, new, record("a", framework="zeta", priority=60)]).framework == "zeta"
    assert chosen([new, record("a", framework="project", version="0.1")]).framework == "project"
    by_distribution = record("a", framework="gamma", version="", extra={"distribution_version": "3.0"})
    assert chosen([old, new, by_distribution]) is by_distribution


def test_what_is_asked_chooses_and_a_conflict_names_all_who_ask():
    old, new = record("a", framework="acme", version="1.9"), record("a", framework="beta", version="2.1")
    mine = record("a", framework="project", version="")
    below = Need("", "a", "<2", "b.yaml:3:5")
    assert VersionLimits([below]).chosen([mine, old, new]) is old
    assert VersionLimits([Need("step", "beta:a", ">=3", "x")]).chosen([old, new]) is old
    assert VersionLimits([Need("kernel", "a", ">=3", "x")]).chosen([old, new]) is new
    with pytest.raises(PluginUnavailableError) as caught:
        VersionLimits([below, Need("step", "a", ">=2", "step acme:other")]).chosen([mine, old, new])
    assert str(caught.value) == (
        "no version of the step 'a' meets what is asked of it. There are:\n"
        "  project:a (states no version) (project/a.py:1)\n"
        "  acme:a 1.9 (acme/a.py:1)\n"
        "  beta:a 2.1 (beta/a.py:1)\n"
        " and\n"
        "  b.yaml:3:5 asks for a <2\n"
        "  step acme:other asks for step:a >=2"
    )


def test_versions_are_those_of_pep_440():
    assert is_within("1.6.1", "~=1.6") and not is_within("2.0", "~=1.6") and is_within("2.0rc1", ">=2.0a1,<3")
    assert not is_within("", ">=0") and not is_within("newest", ">=0")
    assert versions_problem("~=1.6") == "" and versions_problem(None).endswith("not None")


NEEDING = """
from brainsmith import step

@step(requires_plugins=[{needs}])
def needing(model, cfg): ...
"""


def test_a_plugin_without_what_it_requires_is_refused_before_it_is_imported(
    project, manager, no_frameworks, capsys
):
    path = project.write("plugins/needing.py", NEEDING.format(needs="'helper >=2', 'kernel:LayerNorm'"))
    with pytest.raises(PluginUnavailableError) as caught:
        steps.get_plugin("needing")
    assert str(caught.value).startswith(
        f"step 'project:needing' ({path}:4) cannot be used here: it requires step:helper >=2: no step named 'helper'"
    )
    project.write("plugins/helper.py", step_file("helper").replace("@step", "@step(version='2.1')"))
    assert steps.get_plugin("needing").__name__ == "needing"
    assert main(["plugins", "show", "needing"]) == 0
    assert "requires plugins  helper >=2, kernel:LayerNorm" in capsys.readouterr().out


def test_the_scan_reports_a_text_that_names_no_plugin(project, manager, no_frameworks):
    path = project.write("plugins/needing.py", NEEDING.format(needs="'two words'"))
    manager.discover_plugins(modes=["full"])
    assert [str(problem) for problem in manager.registry.limits.problems] == [
        f"{path}:4: requires_plugins= of @step {FORM}'two words'"
    ]
    from brainsmith import step

    with pytest.raises(PluginDefinitionError, match="requires_plugins= of @step must be"):
        step(name="needing", requires_plugins=["two words"])(lambda model, cfg: model)
