"""`plugin.json`: what it says, all its errors at once with their places, and how discovery and the commands show it."""

import json
import os

import pytest

from brainsmith.cli.main import main
from brainsmith.errors import BundleDefinitionError, DuplicatePluginError, PluginLoadError
from brainsmith.plugin.adapter_result import AdapterResult
from brainsmith.plugin.adapters.plugin_json import discover_manifests, read_manifest
from brainsmith.plugin.core import get_registry
from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.plugin.version import Version, VersionRange
from tests.plugin.installed import run_python

LEAST = {"name": "acme", "version": "1.0.0", "min_brainsmith_version": "0.1.0", "module": "acme.py"}
ALL = {
    "name": "acme",
    "version": "1.2.3",
    "description": "Ops of Acme",
    "author": "Ann",
    "license": "MIT",
    "min_brainsmith_version": "0.1.0",
    "max_brainsmith_version": "0.9.0",
    "library": "build/libacme.so",
    "sha256": "AB" * 32,
    "depends_on": {"base": ">=1.0", "other": ""},
    "ops": ["acme_double", "acme_half"],
    "isolation": "process",
    "time_limit": 2,
}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "acme.py").write_text("")
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "libacme.so").write_text("")
    return tmp_path


def write(folder, values):
    """Write a file with one key on a line, in order; return its path."""
    path = folder / "plugin.json"
    path.write_text(values if isinstance(values, str) else json.dumps(values, indent=2) + "\n")
    return str(path)


def refused(path):
    with pytest.raises(BundleDefinitionError) as caught:
        read_manifest(path)
    return str(caught.value).splitlines()


def test_everything_that_a_file_can_say(folder):
    path = write(folder, ALL)
    manifest = read_manifest(path)
    assert (manifest.name, manifest.line, manifest.is_library) == ("acme", 2, True)
    assert manifest.file == str(folder / "build" / "libacme.so")
    assert manifest.values["version"] == Version(1, 2, 3)
    assert manifest.values["sha256"] == "ab" * 32
    assert manifest.values["time_limit"] == 2.0
    assert manifest.values["depends_on"] == (("base", VersionRange(">=1.0")), ("other", VersionRange()))
    info = manifest.record()
    assert (info.type, info.qualified, info.version) == ("bundle", "project:acme", "1.2.3")
    assert (info.min_brainsmith, info.max_brainsmith, info.author) == ("0.1.0", "0.9.0", "Ann")
    assert info.license == "MIT"
    assert info.origin == f"{path}:2"
    assert info.extra == {
        "path": path,
        "ops": ("acme_double", "acme_half"),
        "file": manifest.file,
        "license": "MIT",
    }
    assert info.requires_plugins == ("base >=1.0.0", "other")


def test_the_least_that_a_file_must_say(folder):
    manifest = read_manifest(write(folder, LEAST))
    assert (manifest.is_library, manifest.file) == (False, str(folder / "acme.py"))
    assert manifest.record().extra["ops"] == ()


@pytest.mark.parametrize(
    ("platform", "name"), [("linux", "libacme.so"), ("darwin", "libacme.dylib"), ("win32", "acme.dll")]
)
def test_a_library_without_suffix_is_called_as_the_platform_does(folder, monkeypatch, platform, name):
    monkeypatch.setattr("sys.platform", platform)
    (folder / "build" / name).write_text("")
    values = {**LEAST, "library": "build/acme"}
    del values["module"]
    assert read_manifest(write(folder, values)).file == str(folder / "build" / name)


def test_all_errors_come_at_once_each_with_its_place(folder):
    path = write(
        folder,
        {
            "name": "my bundle",
            "version": "1.0",
            "descripton": "x",
            "author": 3,
            "max_brainsmith_version": "0.9",
            "module": "sub/acme.py",
            "sha256": "abc",
            "depends_on": {"base": "1.0"},
            "ops": "acme_double",
            "isolation": "thread",
            "time_limit": 0,
        },
    )
    version = "a version must be three numbers such as '1.0.0', not"
    assert refused(path) == [
        f"{path}:2:3: name: the name of a bundle must be a Python identifier, not 'my bundle'",
        f"{path}:3:3: version: {version} '1.0'",
        f"{path}:4:3: there is no key 'descripton'. Did you mean 'description'?",
        "  the keys are name, version, description, author, license, min_brainsmith_version, max_brainsmith_version, "
        "library, module, sha256, depends_on, ops, isolation, time_limit",
        f"{path}:5:3: author: it must be text, not 3",
        f"{path}:6:3: max_brainsmith_version: {version} '0.9'",
        f"{path}:7:3: module: it must be a Python file in the same folder such as 'my_bundle.py', not 'sub/acme.py'",
        f"{path}:8:3: sha256: it must be 64 hexadecimal digits, not 'abc'",
        f"{path}:9:3: depends_on: a range of versions must be comparisons such as '>=1.0' or '>=1.0, <2', not '1.0'",
        f"{path}:12:3: ops: it must be a list of names of ops, not 'acme_double'",
        f"{path}:13:3: isolation: it must be 'none' or 'process', not 'thread'",
        f"{path}:14:3: time_limit: it must be a number of seconds above 0, not 0",
        f"{path}: min_brainsmith_version is missing",
    ]


@pytest.mark.parametrize(
    ("changes", "line", "message"),
    [
        (
            {"max_brainsmith_version": "0.0.1"},
            6,
            "max_brainsmith_version 0.0.1 is below min_brainsmith_version 0.1.0",
        ),
        ({"depends_on": {"acme": ""}}, 6, "the bundle 'acme' cannot depend on itself"),
        (
            {"depends_on": ["base"]},
            6,
            'depends_on: it must be a table such as {"base": ">=1.0"}, not [\'base\']',
        ),
        (
            {"isolation": "process"},
            6,
            "isolation is for native libraries; a Python module runs in this process",
        ),
        ({"module": "gone.py"}, 5, "module: there is no file {folder}/gone.py"),
        (
            {"module": "acme.so"},
            5,
            "module: it must be a Python file in the same folder such as 'my_bundle.py', not 'acme.so'",
        ),
        ({"module": "/x/acme.py"}, 5, "module: it must be a path from this file's folder, not '/x/acme.py'"),
        ({"library": "build/libacme.so"}, 0, "either library or module must be stated; found both"),
    ],
)
def test_what_does_not_go_together(folder, changes, line, message):
    path = write(folder, {**LEAST, **changes})
    place = f"{path}:{line}:3" if line else path
    assert refused(path) == [
        f"{place}: {message.format(folder=folder) if '{folder}' in message else message}"
    ]


def test_a_library_that_is_not_there_and_a_time_limit_that_nobody_keeps(folder):
    values = {**LEAST, "library": "gone.so"}
    del values["module"]
    path = write(folder, values)
    assert refused(path) == [f"{path}:5:3: library: there is no file {folder}/gone.so"]
    assert refused(write(folder, {**values, "time_limit": 1})) == [
        f'{path}:6:3: time_limit needs "isolation": "process"'
    ]
    del values["library"]
    assert refused(write(folder, values)) == [
        f"{path}: either library or module must be stated; found neither"
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ":1:1: the file is not JSON: Expecting value"),
        (
            '{"name": "acme",\n}',
            ":2:1: the file is not JSON: Expecting property name enclosed in double quotes",
        ),
        ("[]", ':1:1: the file must be a table such as {"name": ...}, not []'),
    ],
)
def test_a_file_that_is_no_table(folder, text, message):
    path = write(folder, text)
    assert refused(path) == [f"{path}{message}"]


def test_a_key_that_is_stated_twice(folder):
    path = write(folder, json.dumps(LEAST, indent=2)[:-2] + ',\n  "name": "other"\n}')
    assert refused(path) == [f"{path}:6:3: name is stated twice"]


def test_bytes_that_are_no_text_and_a_file_that_is_gone(folder):
    path = str(folder / "plugin.json")
    assert refused(path) == [f"{path}: the file cannot be read: No such file or directory"]
    (folder / "plugin.json").write_bytes(b"\xff")
    assert refused(path) == [f"{path}: the file must be UTF-8 text: invalid start byte"]


def found_problems():
    return [str(p) for p in get_plugin_manager().problems if p.file.endswith("plugin.json")]


@pytest.fixture
def bundle(project):
    """The `plugin.json` of a bundle in the project."""
    here = project / "plugins" / "acme"
    here.mkdir()
    (here / "acme.py").write_text("raise SystemExit('this must not run')\n")
    return write(here, {**LEAST, "description": "Ops of Acme", "ops": ["acme_double"]})


def test_discovery_finds_a_bundle_without_loading_it(bundle):
    info = get_registry().resolve("bundle", "acme")
    assert (info.qualified, info.description) == ("project:acme", "Ops of Acme")
    assert (info.extra["ops"], info.extra["path"]) == (("acme_double",), bundle)
    with pytest.raises(PluginLoadError) as caught:
        info.load()
    assert str(caught.value) == (
        f"bundle 'project:acme' is not loaded: brainsmith.plugins.load_plugin({bundle!r}) loads it"
    )
    assert info.parameters == ()


@pytest.mark.slow
def test_a_changed_new_or_removed_file_is_seen_at_once(bundle):
    def found():
        return {info.name: info.extra["ops"] for info in get_registry().records("bundle")}

    folder = os.path.dirname(bundle)
    assert found() == {"acme": ("acme_double",)}
    with open(bundle, "w") as file:
        json.dump({**LEAST, "ops": ["acme_double", "acme_half"]}, file)
    assert found() == {"acme": ("acme_double", "acme_half")}
    os.unlink(os.path.join(folder, "acme.py"))
    assert found() == {"acme": ("acme_double", "acme_half")}
    assert found_problems() == [f"{bundle}:1:73: module: there is no file {folder}/acme.py"]
    with open(os.path.join(folder, "acme.py"), "w"):
        pass
    assert (set(found()), found_problems()) == ({"acme"}, [])
    os.unlink(bundle)
    assert found() == {}


@pytest.mark.slow
def test_a_later_process_finds_the_same(bundle, project):
    code = """
    import json
    from brainsmith.plugin.core import get_registry
    print(json.dumps([list(map(str, i.to_plain())) for i in get_registry().records("bundle")]))
    """
    first = run_python(code, cwd=project.folder)
    assert run_python(code, cwd=project.folder) == first != []


@pytest.mark.slow
def test_two_bundles_of_one_name_are_a_clash_with_both_places(bundle, project):
    other = project / "plugins" / "other"
    other.mkdir()
    (other / "acme.py").write_text("")
    second = write(other, LEAST)
    assert found_problems() == [
        f"{bundle}:2: bundle 'acme' is defined twice in framework 'project':\n  {second}:2\n  {bundle}:2"
    ]
    with pytest.raises(DuplicatePluginError):
        get_registry().resolve("bundle", "acme")


def test_the_commands_list_and_show_a_bundle(bundle, capsys):
    assert main(["plugins", "list", "--type", "bundle"]) == 0
    assert capsys.readouterr().out.split() == ["bundle", "project", "acme", "Ops", "of", "Acme"]
    assert main(["plugins", "show", "acme"]) == 0
    shown = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert shown["bundle"] == "project:acme"
    assert (shown["ops"], shown["path"], shown["version"]) == ("acme_double", bundle, "1.0.0")
    assert "parameters" not in shown


def test_the_check_reports_a_broken_file(bundle, capsys):
    assert main(["plugins", "check", bundle]) == 0
    place = os.path.relpath(bundle)
    assert (
        capsys.readouterr().out
        == f"registers bundle project:acme  {place}:2\n1 plugin in 1 file, no problems\n"
    )
    assert main(["plugins", "check", "plugins", "--load"]) == 0
    assert "loads bundle project:acme" in capsys.readouterr().out
    with open(bundle, "w") as file:
        json.dump({**LEAST, "version": "1"}, file, indent=1)
    assert main(["plugins", "check", "plugins"]) == 1
    assert capsys.readouterr().out.splitlines()[0] == (
        f"{place}:3:2: version: a version must be three numbers such as '1.0.0', not '1'"
    )
    assert main(["plugins", "list", "--type", "bundle"]) == 0
    assert f"warning: {bundle}:3:2: version: a version must be" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("name", "1" * 5000, "name: the name of a bundle must be a Python identifier, not inf"),
        (
            "version",
            f'"1.0.{"1" * 5000}"',
            "version: the numbers of a version must have up to 9 digits, not '1.0.11",
        ),
        (
            "version",
            '"1.0.1234567890"',
            "version: the numbers of a version must have up to 9 digits, not '1.0.123",
        ),
        (
            "depends_on",
            f'{{"base": ">={"1" * 10}"}}',
            "depends_on: the numbers of a version must have up to 9 digits",
        ),
        ("time_limit", "1" * 400, "time_limit: it must be a number of seconds above 0, not inf"),
        ("description", f"[{'1, ' * 10**5}1]", "description: it must be text, not [1, 1, 1"),
        ("x" * 10**5, "3", "there is no key 'xxx"),
    ],
)
def test_a_value_beyond_all_bounds_is_one_problem_and_hides_nothing(folder, key, value, message):
    values = {name: json.dumps(given) for name, given in LEAST.items()}
    path = write(
        folder, "{" + ",\n".join(f'"{name}": {text}' for name, text in {**values, key: value}.items()) + "}"
    )
    (folder / "good").mkdir()
    (folder / "good" / "acme.py").write_text("")
    result = AdapterResult("project")
    discover_manifests(result, [path, write(folder / "good", LEAST)])
    assert [info.name for info in result.records] == ["acme"]
    (problem,) = result.problems
    line = [*values, key].index(key) + 1
    assert str(problem).startswith(f"{path}:{line}:{2 if line == 1 else 1}: {message}")
    assert len(str(problem)) < 700


def test_a_file_whose_whole_is_a_long_list_is_shown_in_part(folder):
    (line,) = refused(write(folder, "[" + "1, " * 10**5 + "1]"))
    assert line.endswith("1, 1... (300003 characters)")
