"""Plugins of other environments are found by their sources: nothing there is run."""

import pytest

from brainsmith.errors import PluginNotFoundError, UntrustedPluginError
from brainsmith.plugin.adapters.adapter import Reading
from brainsmith.plugin.adapters.environments import EnvironmentAdapter
from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.plugins import steps
from brainsmith.plugins import transforms as tfm
from brainsmith.settings import load_settings
from tests.plugin.environments.other_pythons import (
    PLUGINS,
    install_plugins,
    name_environments,
    virtual_environment,
)


@pytest.fixture
def acme(project, tmp_path, no_frameworks):
    """A project with the environment acme."""
    root = virtual_environment(tmp_path / "acme", plugins=PLUGINS)
    name_environments(project, acme=root)
    return root


def packages(root):
    return root / "lib" / "python3.11" / "site-packages"


def problems(settings=None):
    return [problem.text for problem in EnvironmentAdapter(load_settings()).discover(Reading()).problems]


def test_the_records_say_whose_they_are_and_how_they_are_called(acme):
    info = tfm.get_info("acme:Tag")
    assert (info.framework, info.reference, info.environment) == ("acme", "acme@acme_plugins:Tag", "acme")
    assert (info.import_name, info.python) == ("acme_plugins", str(acme / "bin" / "python"))
    assert [str(one) for one in info.parameters] == ["prefix=''", "weights=None"]
    assert steps.get_info("acme:note_clock").description == ""
    assert sorted(one.name for one in get_plugin_manager().registry.records(framework="acme")) == [
        "Die", "Fail", "Tag", "Wait", "note_clock",
    ]  # fmt: skip


def test_one_package_in_two_environments_gives_two_plugins(acme, project, tmp_path):
    name_environments(project, acme=acme, zeta=virtual_environment(tmp_path / "zeta", plugins=PLUGINS))
    assert [tfm.get_info(f"{name}:Tag").folder for name in ("acme", "zeta")] == [
        str(acme),
        str(tmp_path / "zeta"),
    ]
    assert tfm.get_info("acme:Tag").reference != tfm.get_info("zeta:Tag").reference


def test_a_base_class_in_the_environment_gives_the_parameters(acme):
    base = "class Base:\n    def __init__(self, depth, width=2): ...\n"
    (packages(acme) / "acme_base.py").write_text(base)
    text = "from acme_base import Base\nfrom brainsmith import transform\n\n@transform(stage='x')\nclass Deep(Base): ...\n"
    install_plugins(packages(acme), text, "deep_plugins")
    assert [str(one) for one in tfm.get_info("acme:Deep").parameters] == ["depth", "width=2"]


def test_an_edit_and_a_new_distribution_are_seen(acme):
    assert "acme:Tag" in tfm
    file = packages(acme) / "acme_plugins" / "__init__.py"
    file.write_text(PLUGINS.replace("class Tag", "class Label"))
    get_plugin_manager().discover_plugins()
    assert ("acme:Tag" in tfm, "acme:Label" in tfm) == (False, True)
    install_plugins(packages(acme), PLUGINS.replace("class Tag", "class More"), "more_plugins")
    get_plugin_manager().discover_plugins()
    assert "acme:More" in tfm


def test_kernels_of_another_environment_are_named_and_not_used(acme):
    text = "from brainsmith import kernel\nfrom x import Y\n\n@kernel(name='Big', op_type='Big')\nclass Big(Y): ...\n"
    install_plugins(packages(acme), text, "kernels")
    result = EnvironmentAdapter(load_settings()).discover(Reading())
    assert result.detail == "acme: Python 3.11.7 (only transforms, steps and ops are used, not kernel 'Big')"
    assert "Big" not in [info.name for info in result.records]


def test_a_literal_table_is_read_and_one_that_is_computed_is_not_called(acme):
    entry = '{"name": "T", "module": "tables", "class_name": "T", "stage": "tidy"}'
    install_plugins(packages(acme), f'def plugins():\n    return {{"transforms": [{entry}]}}\n', "tables")
    info = packages(acme) / "tables-1.0.dist-info" / "entry_points.txt"
    info.write_text("[brainsmith.plugins]\nall = tables:plugins\n")
    assert tfm.get_info("acme:T").reference == "acme@tables:T"
    (packages(acme) / "tables" / "__init__.py").write_text("def plugins():\n    raise SystemExit\n")
    assert problems() == [
        "tables:plugins is no decorated plugin, and no function that returns a literal table: discovery runs no code of "
        "another environment"
    ]


def test_what_cannot_be_used_is_a_problem_that_a_wrong_name_shows(project, tmp_path, no_frameworks):
    root = virtual_environment(tmp_path / "old", "3.8.18", plugins=PLUGINS)
    name_environments(project, old=root, gone=tmp_path / "gone")
    install = virtual_environment(tmp_path / "odd", plugins="")
    (packages(install) / "acme_plugins-1.0.dist-info" / "entry_points.txt").write_text(
        "[brainsmith.plugins]\nall = nowhere\n"
    )
    with pytest.raises(PluginNotFoundError, match=r"its Python 3\.8\.18 is too old: 3\.9 or newer is needed"):
        tfm.get_plugin("old:Tag")
    name_environments(project, odd=install)
    assert problems() == ["it names the module 'nowhere', which is not installed there"]


def test_only_trusted_environments_are_used_where_trust_is_listed(acme, monkeypatch):
    monkeypatch.setenv("BRAINSMITH_TRUST", "listed")
    with pytest.raises(UntrustedPluginError) as caught:
        tfm.get_info("acme:Tag")
    file = packages(acme) / "acme_plugins" / "__init__.py"
    assert str(caught.value) == (
        f"transform 'acme:Tag' ({file}:13) is not trusted: {acme} is not in the list of what is trusted: "
        f"brainsmith trust add {acme}"
    )
