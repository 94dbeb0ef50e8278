"""What is not trusted is found and listed, and nothing of it runs: by distribution, folder, owner and signature."""

import errno
import fcntl
import importlib.util
import json
import os
import py_compile
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from brainsmith.blueprint.resolve import check_blueprint
from brainsmith.cli.main import main
from brainsmith.errors import BlueprintError, PluginLoadError, SettingsError, TrustError, UntrustedPluginError
from brainsmith.plugin import trust_store
from brainsmith.plugin.discovery_transfer import pull_discovery, push_discovery
from brainsmith.plugin.manager import get_plugin_manager, reset_plugin_system
from brainsmith.plugin.mounted_folders import FOLDER_PREFIX
from brainsmith.plugin.request import Request
from brainsmith.plugin.shared_discovery import SharedDiscovery
from brainsmith.plugin.signed_folder import digests_of, make_key, sign, why_not_signed
from brainsmith.plugin.trust_store import TrustList, read_trust, trust_file, write_trust
from brainsmith.plugins import steps
from brainsmith.settings import load_settings
from brainsmith.store.file_lock import FileLock
from brainsmith.store.shared.shared_cache import shared_cache
from tests.plugin.installed import step_file

pytestmark = pytest.mark.usefixtures("no_frameworks")

MARKED = """\
import pathlib

pathlib.Path({marker!r}).write_text("imported")
from brainsmith import step


@step
def {name}(model, cfg):
    return model
"""
NEEDS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give a folder to another user")


@pytest.fixture(autouse=True)
def bytecode(monkeypatch):
    monkeypatch.setattr(sys, "pycache_prefix", None)


@pytest.fixture
def marker(tmp_path):
    return tmp_path / "marker"


@pytest.fixture
def acme(site, marker):
    """An installed distribution with a step that leaves a mark when it is imported."""
    site.install(
        "acme", "1.5", {"steps": "acme_steps"}, acme_steps=MARKED.format(marker=str(marker), name="acme_tidy")
    )
    return site


@pytest.fixture
def own(project, marker):
    """A plugin of the project that leaves a mark when it is imported."""
    project.write("plugins/own.py", MARKED.format(marker=str(marker), name="own_tidy"))
    return project


@pytest.fixture
def listed(monkeypatch):
    monkeypatch.setenv("BRAINSMITH_TRUST", "listed")


def fresh():
    """Forget what was found and imported, as another process begins."""
    for name in [n for n in sys.modules if n.startswith(FOLDER_PREFIX) or n.startswith("acme_")]:
        del sys.modules[name]
    importlib.invalidate_caches()
    reset_plugin_system()


def refused(name):
    fresh()
    with pytest.raises(UntrustedPluginError) as caught:
        steps.get_plugin(name)
    return str(caught.value).partition("is not trusted: ")[2]


def loaded(name):
    fresh()
    return steps.get_plugin(name).__name__ == name


def test_what_is_installed_and_the_users_own_folders_are_trusted_by_default(acme, own, marker):
    assert loaded("acme_tidy") and marker.read_text() == "imported"
    assert loaded("own_tidy")


def test_where_trust_is_listed_nothing_else_is_imported_until_it_is_added(acme, own, marker, listed, capsys):
    folder = os.path.realpath(own / "plugins")
    assert refused("acme_tidy") == "acme 1.5 is not in the list of what is trusted: brainsmith trust add acme"
    assert (
        refused("own_tidy")
        == f"{folder} is not in the list of what is trusted: brainsmith trust add {folder}"
    )
    assert not marker.exists()
    assert main(["trust", "add", "acme"]) == 0
    assert capsys.readouterr().out == "distribution acme ==1.5 is trusted\n"
    assert loaded("acme_tidy") and marker.exists()
    assert main(["trust", "add", str(own / "plugins")]) == 0
    assert capsys.readouterr().out == f"folder {folder} is trusted\n"
    assert loaded("own_tidy")
    assert main(["trust", "remove", "acme"]) == 0
    assert refused("acme_tidy").startswith("acme 1.5 is not in the list")


def test_commands_that_messages_advise_can_be_given_to_a_shell(
    project, listed, tmp_path, monkeypatch, capsys
):
    folder = tmp_path / "the team's"
    (folder / "plugins").mkdir(parents=True)
    (folder / "plugins" / "own.py").write_text(step_file("own_tidy"))
    project.write(".brainsmith/config.yaml", f'plugin_system: {{plugin_folders: ["{folder}/plugins"]}}\n')
    for words in ([], ["--content"]):
        advised = shlex.split(refused("own_tidy").rpartition("brainsmith ")[2])
        assert advised == ["trust", "add", f"{folder}/plugins", *words]
        assert main([*advised, "--content"]) == 0 and loaded("own_tidy")
        (folder / "plugins" / "more.txt").write_text("")
    assert main(["init", str(folder / "a project")]) == 0
    assert f"  cd {shlex.quote(f'{folder}/a project')}\n" in capsys.readouterr().out


def test_a_folder_above_is_enough(own, listed):
    assert main(["trust", "add", str(own.folder)]) == 0
    assert loaded("own_tidy")


def test_versions_that_are_trusted(acme, listed):
    write_trust(TrustList({"acme": ">=2,<3"}, {}, {}))
    assert refused("acme_tidy") == "acme >=2,<3 is trusted, and 1.5 is installed: brainsmith trust add acme"
    assert main(["trust", "add", "acme>=1,<2"]) == 0
    assert loaded("acme_tidy")


def test_content_that_is_trusted(acme, own, listed, marker, capsys):
    folder = os.path.realpath(own / "plugins")
    assert main(["trust", "add", "acme", "--content"]) == 0
    assert main(["trust", "add", folder, "--content"]) == 0
    assert "as it is now" in capsys.readouterr().out
    assert loaded("acme_tidy") and loaded("own_tidy")
    assert sys.pycache_prefix == os.path.join(load_settings().cache_dir, "bytecode")
    acme.write("acme_steps.py", MARKED.format(marker=str(marker), name="acme_tidy") + "# more\n")
    own.write("plugins/more.txt", "more")
    assert refused("acme_tidy") == (
        "the files of acme 1.5 are not those that were trusted: look at them, then brainsmith trust add acme --content"
    )
    assert refused("own_tidy") == (
        f"what is in {folder} is not what was trusted: look at it, then brainsmith trust add {folder} --content"
    )


def test_a_computed_table_of_what_is_not_trusted_is_not_computed(site, manager, listed, marker):
    computed = f"""
        import pathlib
        pathlib.Path({str(marker)!r}).write_text("ran")
        def plugins():
            return {{"steps": [{{"name": "late", "module": "acme_late", "func_name": "late"}} for _ in range(1)]}}
    """
    site.install("acme", "1.0", {"table": "acme_computed:plugins"}, acme_computed=computed)
    manager.discover_plugins(modes=["full"])
    (problem,) = manager.problems
    assert str(problem) == (
        "acme 1.0, entry point 'table': its table of plugins is computed, and nothing of it may run: "
        "acme 1.0 is not in the list of what is trusted: brainsmith trust add acme"
    )
    assert not marker.exists()
    assert main(["trust", "add", "acme"]) == 0
    manager.discover_plugins(modes=["full"])
    assert not manager.problems and marker.exists()


@NEEDS_ROOT
def test_a_folder_of_another_user_asks_for_consent_once(own, marker, monkeypatch):
    folder = os.path.realpath(own / "plugins")
    os.chown(own / "plugins", 12345, -1)
    assert refused("own_tidy") == f"{folder} belongs to another user (12345): brainsmith trust add {folder}"
    os.chown(own / "plugins", 0, -1)
    os.chown(own / "plugins" / "own.py", 12345, -1)
    assert "belongs to another user (12345)" in refused("own_tidy")
    assert not marker.exists()
    monkeypatch.setenv("SUDO_UID", "12345")
    assert loaded("own_tidy")
    monkeypatch.delenv("SUDO_UID")
    assert main(["trust", "add", str(own / "plugins")]) == 0
    assert loaded("own_tidy")


def test_a_project_cannot_trust_itself(own):
    path = own.write(".brainsmith/config.yaml", "plugin_system: {trust: off, trust_models: true}\n")
    with pytest.raises(SettingsError) as caught:
        load_settings()
    user = os.path.join(os.environ["XDG_CONFIG_HOME"], "brainsmith", "config.yaml")
    assert str(caught.value).splitlines() == [
        f"{path}:1:17: trust is not for a project to decide: set it in {user}, or by BRAINSMITH_TRUST",
        f"{path}:1:29: trust_models is not for a project to decide: set it in {user}, or by BRAINSMITH_TRUST_MODELS",
    ]


@pytest.mark.slow
def test_off_trusts_all_and_health_says_so(acme, own, monkeypatch, capsys):
    monkeypatch.setenv("BRAINSMITH_TRUST", "off")
    assert loaded("acme_tidy") and loaded("own_tidy")
    health = get_plugin_manager().health_check()
    assert health["trust"] == {
        "mode": "off", "untrusted": {},
        "advice": "trust is off (BRAINSMITH_TRUST): all plugins may be imported, whoever they are of",
    }  # fmt: skip
    main(["health"])
    assert "trust is off (BRAINSMITH_TRUST)" in capsys.readouterr().out


def test_the_list_says_which_plugins_may_be_imported(monkeypatch, capsys):
    for mode, said in (
        ("installed", "what is installed is trusted, and folders of this user"),
        ("listed", "only what is listed is trusted"),
        ("off", "all plugins are trusted, whoever they are of"),
    ):
        monkeypatch.setenv("BRAINSMITH_TRUST", mode)
        assert main(["trust", "list"]) == 0
        assert capsys.readouterr().out == f"trust is {mode}: {said}\n"


def test_what_is_not_trusted_is_listed(acme, own, listed, capsys):
    reason = "acme 1.5 is not in the list of what is trusted: brainsmith trust add acme"
    fresh()
    assert main(["plugins", "list", "--framework", "acme", "--json"]) == 0
    shown = capsys.readouterr()
    assert [one["untrusted"] for one in json.loads(shown.out)] == [reason]
    assert f"warning: 1 plugin cannot be loaded, untrusted: {reason}\n" in shown.err
    assert main(["plugins", "show", "acme_tidy"]) == 0
    assert f"  trust                 {reason}\n" in capsys.readouterr().out
    assert get_plugin_manager().health_check()["trust"]["untrusted"][reason] == 1


def test_a_blueprint_that_names_it_says_where_and_goes_without_what_is_optional(acme, own, listed):
    own.write("b.yaml", "hw_compiler: {steps: [cleanup, acme_tidy]}\n")
    fresh()
    registry, _ = get_plugin_manager().all_records()
    with pytest.raises(BlueprintError) as caught:
        check_blueprint("b.yaml", registry)
    reason = "acme 1.5 is not in the list of what is trusted: brainsmith trust add acme"
    (acme_tidy,) = [info for info in registry.records("step") if info.name == "acme_tidy"]
    place = f"b.yaml:1:32: step 'acme:acme_tidy' ({acme_tidy.origin})"
    assert str(caught.value) == f"{place} is not trusted: {reason}"
    own.write("b.yaml", "hw_compiler: {steps: [cleanup, ~acme_tidy]}\n")
    _, selection = check_blueprint("b.yaml", registry)
    assert [step.name for step in selection.steps] == ["cleanup"]


def test_a_bundle_of_an_untrusted_folder_is_not_opened(own, listed, marker):
    from brainsmith.plugins import load_plugin

    own.write("plugins/bundle.py", f"import pathlib\npathlib.Path({str(marker)!r}).write_text('ran')\n")
    fresh()
    with pytest.raises(UntrustedPluginError) as caught:
        load_plugin(str(own / "plugins" / "bundle.py"))
    assert "bundle.py is not opened, because it is not trusted: " in str(caught.value)
    assert not marker.exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is damaged: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
        ('{"trust": 2}', "is no list of this version of BrainSmith: its 'trust' must be 1"),
        ('{"trust": 1, "keys": []}', "is damaged: 'keys' must be a table of texts"),
    ],
)
def test_a_damaged_list_trusts_nothing(own, listed, text, message):
    write_trust(TrustList({}, {str(own.folder): ""}, {}))
    Path(trust_file()).write_text(text)
    with pytest.raises(TrustError) as caught:
        read_trust()
    assert str(caught.value) == f"{trust_file()} {message}"
    fresh()
    with pytest.raises(TrustError):
        steps.get_plugin("own_tidy")


def test_a_list_that_others_may_write_is_not_used(own, listed):
    write_trust(TrustList({}, {str(own.folder): ""}, {}))
    os.chmod(trust_file(), 0o666)
    with pytest.raises(TrustError, match=r"may be written by other users, so it is not used"):
        read_trust()


MISUSE = {
    ("add", "nowhere"): "no folder, no file of a key and no installed distribution is called 'nowhere'",
    ("add", "No_Where.pub"): "no folder, no file of a key and no installed distribution is called 'No_Where.pub'",
    ("add", "no where"): "no where is no folder, no file of a key and no name of a distribution",
    ("add", "acme>=one"): "acme: its versions must be comparisons such as '>=2,<3' or '~=1.6', not '>=one'",
    ("add", "acme==1.5", "--content"): "--content trusts what is installed now: leave the versions out",
    ("add", "own.key"): "own.key is no public key: it must be one line, 'ed25519 BASE64 NAME'",
    ("remove", "acme"): "'acme' is not in the list of what is trusted; brainsmith trust list shows it",
    ("remove", "own.key"): "own.key is no public key: it must be one line, 'ed25519 BASE64 NAME'",
    ("remove", "own.key.pub"): "'own.key.pub' is not in the list of what is trusted; brainsmith trust list shows it",
    ("sign", "plugins", "--key", "none.key"): "none.key cannot be read: No such file or directory",
    ("sign", "plugins", "--key", "b.yaml"): "b.yaml is no private key without a password (PEM): "
    "brainsmith trust key writes one",
    ("sign", "nowhere", "--key", "own.key"): "nowhere is no folder",
    ("key", "own.key"): "own.key exists: keys are not overwritten; name another file",
    ("key", "none/own.key"): "none/own.key cannot be written: No such file or directory",
}  # fmt: skip


@pytest.mark.parametrize("words", MISUSE, ids=" ".join)
def test_misuse(acme, own, words, capsys):
    pytest.importorskip("cryptography", reason="needs cryptography")
    make_key("own.key", "me")
    own.write("b.yaml", "hw_compiler: {}\n")
    assert main(["trust", *words]) in (1, 2)
    assert capsys.readouterr().err == f"error: {MISUSE[words]}\n"


@pytest.fixture
def signed(own, listed, capsys):
    """A folder of plugins that is signed, on a machine that trusts the key."""
    pytest.importorskip("cryptography", reason="needs cryptography")
    own.write("plugins/deep/table.csv", "1, 2")
    make_key("team.key", "team")
    assert main(["trust", "sign", "plugins", "--key", "team.key"]) == 0
    assert main(["trust", "add", "team.key.pub"]) == 0
    own.shown = capsys.readouterr().out
    return own


def test_a_folder_that_a_trusted_key_signed_is_trusted(signed, capsys):
    shown = signed.shown
    key = Path("team.key.pub").read_text().split()[1]
    assert shown == (
        f"plugins/plugin.sig signs 2 files with {key}\n"
        f"key {key} team is trusted: plugins of the folders that it signs may be imported\n"
    )
    assert os.stat("team.key").st_mode & 0o777 == 0o600
    assert loaded("own_tidy")
    assert main(["trust", "list"]) == 0
    assert f"key\t{key}\tteam\n" in capsys.readouterr().out
    for name in ("team", "team.key.pub"):
        assert main(["trust", "remove", name]) == 0
        assert capsys.readouterr().out == f"key {key} is no longer trusted\n"
        assert refused("own_tidy").startswith(
            f"{os.path.realpath('plugins')}: it is signed with a key that is not trusted ({key})"
        )
        assert main(["trust", "add", "team.key.pub"]) == 0
        capsys.readouterr()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            lambda f: (f / "own.py").write_text((f / "own.py").read_text() + "# x"),
            "own.py is not as it was signed",
        ),
        (lambda f: (f / "new.py").write_text(""), "new.py is not signed"),
        (lambda f: (f / "deep" / "table.csv").unlink(), "deep/table.csv is missing"),
        (lambda f: (f / "plugin.sig").write_text("{"), "its plugin.sig is damaged"),
        (lambda f: (f / "plugin.sig").write_text('{"files": {}}'), "its plugin.sig is damaged"),
        (lambda f: restated(f), "its plugin.sig is not of the key that it names"),
    ],
)
def test_whatever_is_changed_is_seen(signed, marker, change, reason):
    folder = os.path.realpath("plugins")
    change(Path(folder))
    assert (
        refused("own_tidy") == f"{folder}: {reason}; to trust it all the same: brainsmith trust add {folder}"
    )
    assert not marker.exists()


def restated(folder):
    """Let the signature name other files than were signed."""
    plain = json.loads((folder / "plugin.sig").read_text())
    plain["files"].pop("deep/table.csv")
    (folder / "plugin.sig").write_text(json.dumps(plain))


def test_another_key_cannot_sign_in_its_place(signed, marker):
    make_key("other.key", "other")
    sign("plugins", "other.key")
    assert "it is signed with a key that is not trusted" in refused("own_tidy")
    plain = json.loads(Path("plugins/plugin.sig").read_text())
    plain["key"] = Path("team.key.pub").read_text().split()[1]
    Path("plugins/plugin.sig").write_text(json.dumps(plain))
    assert "its plugin.sig is not of the key that it names" in refused("own_tidy")
    assert not marker.exists()


def test_compiled_code_beside_what_was_signed_is_not_run(signed, marker, tmp_path):
    """The bytecode of another source, with the time and size of the one that is there, as Python believes it."""
    evil = tmp_path / "evil.py"
    there = Path("plugins/own.py")
    text = f"open({str(tmp_path / 'evil')!r}, 'w')\n" + there.read_text()
    evil.write_text(text)
    cached = Path(importlib.util.cache_from_source(str(there.absolute())))
    py_compile.compile(str(evil), cfile=str(cached), doraise=True)
    data = bytearray(cached.read_bytes())
    status = there.stat()
    data[8:12] = int(status.st_mtime).to_bytes(4, "little")
    data[12:16] = (status.st_size & 0xFFFFFFFF).to_bytes(4, "little")
    cached.write_bytes(data)
    assert loaded("own_tidy")
    assert marker.exists() and not (tmp_path / "evil").exists()


def test_without_cryptography_a_signature_is_not_believed(signed, monkeypatch):
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    assert "checking its plugin.sig needs cryptography: pip install 'brainsmith[trust]'" in refused(
        "own_tidy"
    )
    with pytest.raises(TrustError, match=r"signatures need cryptography: pip install 'brainsmith\[trust\]'"):
        sign("plugins", "team.key")
    shutil.rmtree("plugins")
    assert why_not_signed("plugins", {}) == "its plugin.sig cannot be read: No such file or directory"


def test_an_error_of_trust_is_one_of_loading():
    assert issubclass(UntrustedPluginError, PluginLoadError)


TABLE = """
def plugins():
    return {"steps": [{"name": "listed_step", "module": "acme_table", "func_name": "listed_step"%s}]}
"""


@pytest.mark.parametrize("more", ["", ', "folder": "/", "path": "/x/y"', ', "environment": "mine"'])
def test_a_plugin_of_a_literal_table_is_one_of_its_distribution_whatever_the_table_says(
    site, marker, listed, more
):
    module = MARKED.format(marker=str(marker), name="listed_step") + TABLE % more
    site.install("acme", "1.0", {"table": "acme_table:plugins"}, acme_table=module)
    assert (
        refused("listed_step") == "acme 1.0 is not in the list of what is trusted: brainsmith trust add acme"
    )
    assert not marker.exists()
    assert main(["trust", "add", "acme"]) == 0
    assert loaded("listed_step")


def test_a_record_that_does_not_say_where_it_comes_from_is_not_imported(site, marker, listed):
    from brainsmith.plugin.core import get_registry
    from brainsmith.plugin.info import PluginInfo

    fresh()
    site.write("acme_alone.py", MARKED.format(marker=str(marker), name="alone"))
    info = PluginInfo(
        name="alone", type="step", framework="acme", reference="acme_alone:alone", origin="nowhere"
    )
    get_registry().register(info)
    with pytest.raises(
        UntrustedPluginError, match=r"is not trusted: its record does not say where it comes from$"
    ):
        get_registry().load(get_registry().resolve("step", "alone"))
    assert not marker.exists()


def test_a_domain_of_a_plugin_that_is_not_trusted_is_not_looked_up(acme, listed):
    from brainsmith.graph.known_domains import domain_fault

    fresh()
    assert "for which QONNX would import the module 'acme_steps'" in domain_fault("acme_steps")
    assert main(["trust", "add", "acme"]) == 0
    assert domain_fault("acme_steps") == ""


def test_a_distribution_is_trusted_with_all_of_its_files_and_one_without_a_list_is_not(
    site, listed, marker, capsys
):
    source = MARKED.format(marker=str(marker), name="acme_tidy")
    site.install("acme", "1.5", {"steps": "acme_steps"}, acme_steps=source, acme_second__helper="ONE = 1\n")
    assert main(["trust", "add", "acme", "--content"]) == 0
    assert loaded("acme_tidy")
    site.write("acme_second/helper.py", "ONE = 2\n")
    assert refused("acme_tidy").startswith("the files of acme 1.5 are not those that were trusted")
    (site.folder / "acme-1.5.dist-info" / "RECORD").unlink()
    capsys.readouterr()
    assert main(["trust", "add", "acme", "--content"]) == 1
    assert capsys.readouterr().err.startswith("error: the files of acme cannot be read: [Errno 2]")


def test_a_subfolder_that_cannot_be_listed_is_not_passed_by():
    """Python imports from one whose names alone are hidden; root may list all, so this is another user."""
    with tempfile.TemporaryDirectory(prefix="brainsmith-trust-") as folder:
        hidden = Path(folder, "hidden")
        hidden.mkdir()
        (hidden / "__init__.py").write_text("")
        os.chmod(folder, 0o755)
        os.chmod(hidden, 0o311)
        own = os.geteuid()
        try:
            if own == 0:
                os.seteuid(65534)
            with pytest.raises(PermissionError):
                digests_of(folder)
        finally:
            os.seteuid(own)
            os.chmod(hidden, 0o755)


def test_links_and_special_files_of_a_signed_folder(signed, tmp_path):
    folder = os.path.realpath("plugins")
    (tmp_path / "outside.py").write_text("")
    os.symlink(tmp_path / "outside.py", "plugins/out.py")
    assert refused("own_tidy").startswith(
        f"{folder}: {folder}/out.py cannot be read: it is a link to what is outside"
    )
    os.remove("plugins/out.py")
    os.mkfifo("plugins/pipe")
    assert refused("own_tidy").startswith(
        f"{folder}: {folder}/pipe cannot be read: it is neither a file, a folder nor"
    )
    os.remove("plugins/pipe")
    os.symlink("deep", "plugins/again")
    assert "again is not signed" in refused("own_tidy")
    sign("plugins", "team.key")
    assert loaded("own_tidy")
    os.remove("plugins/again")
    os.symlink("own.py", "plugins/again")
    assert "again is not as it was signed" in refused("own_tidy")


LAZY = """\
from brainsmith import step


@step
def lazy(model, cfg):
    from . import helper
    return helper.VALUE
"""


@pytest.fixture(params=["signed", "listed by content"])
def lazy_step(request, own, listed):
    """A step of a folder that is trusted by its content, and imports another file of it when it runs."""
    pytest.importorskip("cryptography", reason="needs cryptography")
    own.write("plugins/helper.py", "VALUE = 1\n")
    own.write("plugins/lazy.py", LAZY)
    if request.param == "signed":
        make_key("team.key", "team")
        sign("plugins", "team.key")
        assert main(["trust", "add", "team.key.pub"]) == 0
    else:
        assert main(["trust", "add", "plugins", "--content"]) == 0
    fresh()
    return steps.get_plugin("lazy")


def test_what_is_imported_after_the_check_is_as_it_was_checked(own, lazy_step):
    own.write("plugins/helper.py", "VALUE = 2\n")
    with pytest.raises(
        ImportError, match=r"helper.py is not as it was when .* was checked, which is trusted"
    ):
        lazy_step(None, None)
    own.write("plugins/helper.py", "VALUE = 1\n")
    assert lazy_step(None, None) == 1


@pytest.mark.parametrize("file", ["helper.pyc", "helper/__init__.pyc", "helper.so"])
def test_compiled_modules_that_come_after_the_check_are_not_imported(own, lazy_step, file):
    os.unlink("plugins/helper.py")
    own.write("other.py", "VALUE = 2\n")
    os.makedirs(os.path.dirname(f"plugins/{file}"), exist_ok=True)
    py_compile.compile("other.py", cfile=f"plugins/{file}")
    with pytest.raises(ImportError) as caught:
        lazy_step(None, None)
    folder = os.path.abspath("plugins")
    assert str(caught.value) == (
        f"{folder}/{file} is not as it was when {folder} was checked, which is trusted by its content"
    )


def test_a_folder_that_all_may_write_is_no_folder_of_ones_own(own):
    folder = os.path.realpath(own / "plugins")
    os.chmod(folder, 0o777)
    assert refused("own_tidy") == f"{folder} may be written by all users: brainsmith trust add {folder}"
    os.chmod(folder, 0o755)
    assert loaded("own_tidy")


def test_settings_of_trust_are_not_read_from_a_file_that_others_write():
    folder = Path(os.environ["XDG_CONFIG_HOME"]) / "brainsmith"
    (folder / "config.yaml").write_text("plugin_system: {trust: off}\n")
    assert load_settings().trust == "off"
    os.chmod(folder / "config.yaml", 0o666)
    with pytest.raises(
        SettingsError, match=r"trust is not read from a file that may be written by other users: make it"
    ):
        load_settings()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{"trust": 1, "distributions": {"acme": "=>1"}}',
            "is damaged: the versions must be comparisons such",
        ),
        ("[" * 100_000, "is damaged: "),
    ],
)
def test_lists_that_cannot_be_read_end_in_one_message(listed, text, message):
    write_trust(TrustList({}, {}, {}))
    Path(trust_file()).write_text(text)
    with pytest.raises(TrustError) as caught:
        read_trust()
    assert message in str(caught.value)


def test_a_signature_that_is_nested_too_deeply_is_damaged(signed):
    Path("plugins/plugin.sig").write_text("[" * 100_000)
    assert "its plugin.sig is damaged" in refused("own_tidy")


@pytest.mark.parametrize("name", ["brainsmith", "qonnx", "finn"])
def test_a_distribution_that_has_a_frameworks_name_is_trusted_as_any_other(site, marker, listed, name):
    site.install(
        name, "9", {"steps": "acme_steps"}, acme_steps=MARKED.format(marker=str(marker), name="posing")
    )
    assert refused("posing") == f"{name} 9 is not in the list of what is trusted: brainsmith trust add {name}"
    assert not marker.exists()


def test_versions_that_are_not_installed_are_not_added(acme, listed, capsys):
    assert main(["trust", "add", "acme==9"]) == 1
    assert capsys.readouterr().err == (
        "error: acme 1.5 is installed, so to trust acme ==9 would have no effect: "
        "install such a version first, or trust this one: brainsmith trust add acme\n"
    )
    assert not read_trust().distributions


def test_processes_that_add_at_once_lose_nothing(tmp_path):
    folders = [tmp_path / f"plugins{at}" for at in range(6)]
    for folder in folders:
        folder.mkdir()
    adding = [
        subprocess.Popen(
            [sys.executable, "-m", "brainsmith", "trust", "add", str(one)], stdout=subprocess.DEVNULL
        )
        for one in folders
    ]
    assert [process.wait(60) for process in adding] == [0] * 6
    assert set(read_trust().folders) == {os.path.realpath(folder) for folder in folders}


def test_a_list_on_a_file_system_without_locks_is_changed_all_the_same(acme, monkeypatch):
    def refuse(descriptor, how):
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(fcntl, "flock", refuse)
    assert main(["trust", "add", "acme"]) == 0
    assert list(read_trust().distributions) == ["acme"]


def test_a_list_that_another_process_holds_is_not_changed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(trust_store, "_PATIENCE", 0.0)
    with FileLock(f"{trust_file()}.lock", 1.0) as held:
        assert held and main(["trust", "add", str(tmp_path)]) == 1
    assert capsys.readouterr().err == (
        f"error: another process changes {trust_file()}: try again when it has ended\n"
    )
    assert main(["trust", "add", str(tmp_path)]) == 0


def test_what_cannot_be_a_key_or_be_signed_leaves_nothing(tmp_path):
    pytest.importorskip("cryptography", reason="needs cryptography")
    key = str(tmp_path / "team.key")
    with pytest.raises(TrustError) as caught:
        make_key(key, "a\x1b[2J\nb")
    assert str(caught.value) == (
        "the name of a key must be one line of plain characters, not 'a\\x1b[2J\\nb'"
    )
    (tmp_path / "team.key.pub").write_text("somebody's")
    with pytest.raises(TrustError) as caught:
        make_key(key, "team")
    assert str(caught.value) == f"{key}.pub exists: keys are not overwritten; name another file"
    assert not os.path.exists(key)
    make_key(f"{key}2", "team")
    (tmp_path / "plugins").mkdir()
    with pytest.raises(TrustError) as caught:
        sign(str(tmp_path / "plugins"), f"{key}2")
    assert str(caught.value) == f"{tmp_path}/plugins holds no file that could be signed"


@pytest.mark.finds_anew
@pytest.mark.parametrize(
    "told", [{"framework": "qonnx"}, {"framework": "good", "extra": {"entry_point": "steps"}}]
)
def test_what_a_shared_cache_says_of_an_origin_trusts_nothing(acme, marker, listed, monkeypatch, told):
    acme.install("good", "1.0", {"steps": "acme_good"}, acme_good="from brainsmith import step\n")
    assert main(["trust", "add", "good"]) == 0
    monkeypatch.setenv("BRAINSMITH_SHARED_CACHE", f"memory://{marker}")
    settings = load_settings()
    snapshot = get_plugin_manager().everything()
    at = next(at for at, info in enumerate(snapshot.records) if info.name == "acme_tidy")
    snapshot.records[at] = snapshot.records[at].replace(**{"extra": {}, **told})
    assert SharedDiscovery(Request("full").key, settings, snapshot.environment).offer(snapshot)
    itself = "with trust: listed each machine reads its plugins itself"
    assert pull_discovery(settings, shared_cache(settings)) == (True, itself)
    assert push_discovery(snapshot, settings, shared_cache(settings)) == itself
    get_plugin_manager().clear_cache()
    assert refused("acme_tidy") == "acme 1.5 is not in the list of what is trusted: brainsmith trust add acme"
    assert not marker.exists()
