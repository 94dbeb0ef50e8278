"""The settings: what wins over what, what is refused, and with which place."""

# ruff: noqa: E501  (the texts are easier to read on one line)

import os

import pytest

from brainsmith.errors import SettingsError
from brainsmith.settings import Settings, find_project, load_settings
from tests.plugin.installed import run_python


@pytest.fixture
def project(tmp_path, monkeypatch):
    folder = tmp_path / "project"
    (folder / ".brainsmith").mkdir(parents=True)
    (folder / "deep" / "er").mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


def user_config(text):
    folder = os.path.join(os.environ["XDG_CONFIG_HOME"], "brainsmith")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "config.yaml")
    with open(path, "w") as file:
        file.write(text)
    return path


def project_config(project, text):
    path = project / ".brainsmith" / "config.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def test_the_defaults(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    settings = load_settings()
    plain = {name: getattr(settings, name) for name in Settings.__annotations__}
    assert plain == {
        "cache_ttl": 300.0,
        "discovery_mode": "full",
        "frameworks": None,
        "performance_tracking": True,
        "debug": False,
        "dynamic_loading": True,
        "overlooked_folders": (),
        "device": "auto",
        "verbose": False,
        "remote_url": None,
        "remote_token_file": None,
        "remote_timeout": 60.0,
        "remote_verify": True,
        "shared_cache": None,
        "shared_cache_mode": "read-write",
        "shared_cache_timeout": 0.04,
        "plugin_folders": (),
        "trust": "installed",
        "trust_models": False,
        "groups": {},
        "environments": {},
        "project": None,
        "cache_dir": os.path.join(os.environ["XDG_CACHE_HOME"], "brainsmith"),
        "files": (os.path.join(os.environ["XDG_CONFIG_HOME"], "brainsmith", "config.yaml"),),
        "sources": {},
    }


def test_caches_and_settings_lie_in_the_home_folder_where_xdg_says_nothing(tmp_path, monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("XDG_CONFIG_HOME", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    settings = load_settings(str(tmp_path))
    assert settings.cache_dir == str(tmp_path / ".cache" / "brainsmith")
    assert settings.files == (str(tmp_path / ".config" / "brainsmith" / "config.yaml"),)


def test_argument_environment_project_user_default_in_this_order(project, monkeypatch):
    assert load_settings().cache_ttl == 300
    user = user_config("plugin_system: {cache_ttl: 10, discovery_mode: selective, frameworks: [qonnx]}\n")
    assert (load_settings().cache_ttl, load_settings().sources["cache_ttl"]) == (10, user)
    own = project_config(project, "plugin_system:\n  cache_ttl: 20\n  performance_tracking: false\n")
    settings = load_settings()
    assert (settings.cache_ttl, settings.sources["cache_ttl"]) == (20, own)
    assert settings.discovery_mode == "selective"
    assert settings.performance_tracking is False
    assert settings.frameworks == ("qonnx",)
    monkeypatch.setenv("BRAINSMITH_PLUGIN_CACHE_TTL", "30.5")
    assert (load_settings().cache_ttl, load_settings().sources["cache_ttl"]) == (
        30.5,
        "BRAINSMITH_PLUGIN_CACHE_TTL",
    )
    assert load_settings(cache_ttl=40).cache_ttl == 40
    assert load_settings(cache_ttl=None).cache_ttl == 30.5


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", True),
        ("true", True),
        ("Yes", True),
        ("on", True),
        ("0", False),
        ("no", False),
        ("OFF", False),
        ("False", False),
    ],
)
def test_switches_in_the_environment(text, value, monkeypatch):
    monkeypatch.setenv("BRAINSMITH_PLUGIN_DEBUG", text)
    monkeypatch.setenv("BRAINSMITH_DYNAMIC_LOADING", text)
    monkeypatch.setenv("BRAINSMITH_VERBOSE", text)
    settings = load_settings()
    assert (settings.debug, settings.dynamic_loading, settings.verbose) == (value, value, value)


def test_the_device_is_a_text(monkeypatch):
    monkeypatch.setenv("BRAINSMITH_DEVICE", " rtlsim:1 ")
    assert load_settings().device == "rtlsim:1"
    assert load_settings(device="cpu").device == "cpu"
    with pytest.raises(SettingsError) as error:
        load_settings(device=" ")
    assert (
        str(error.value) == "argument device: device must be a device such as auto, cpu or rtlsim:0, not ' '"
    )


def test_where_a_target_is_served(project, monkeypatch):
    own = "plugin_system: {remote_url: 'http://there:80', remote_token_file: keys/token, remote_timeout: 5}\n"
    project_config(project, own)
    settings = load_settings()
    assert (settings.remote_url, settings.remote_timeout) == ("http://there:80", 5.0)
    assert settings.remote_token_file == str(project / "keys" / "token")
    monkeypatch.setenv("BRAINSMITH_REMOTE_URL", "http://[::1]:8765/")
    monkeypatch.setenv("BRAINSMITH_REMOTE_TIMEOUT", "0.5")
    monkeypatch.setenv("BRAINSMITH_REMOTE_TOKEN_FILE", "~/token")
    settings = load_settings()
    assert (settings.remote_url, settings.remote_timeout) == ("http://[::1]:8765", 0.5)
    assert settings.remote_token_file == os.path.join(os.environ["HOME"], "token")
    for text, verify in (
        ("false", False),
        ("1", True),
        ("~/ca.pem", os.path.join(os.environ["HOME"], "ca.pem")),
    ):
        monkeypatch.setenv("BRAINSMITH_REMOTE_VERIFY", text)
        assert load_settings().remote_verify == verify
    with pytest.raises(SettingsError) as error:
        load_settings(remote_verify=2)
    assert str(error.value) == (
        "argument remote_verify: remote_verify must be true, false or the path of a file, not 2"
    )


def test_an_empty_variable_says_nothing(monkeypatch):
    monkeypatch.setenv("BRAINSMITH_PLUGIN_MODE", "")
    assert load_settings().discovery_mode == "full"


@pytest.mark.parametrize(
    ("variable", "text", "message"),
    [
        (
            "BRAINSMITH_PLUGIN_CACHE_TTL",
            "soon",
            "cache_ttl must be a number of seconds, 0 or more, not 'soon'",
        ),
        ("BRAINSMITH_PLUGIN_CACHE_TTL", "-1", "cache_ttl must be a number of seconds, 0 or more, not -1.0"),
        ("BRAINSMITH_PLUGIN_CACHE_TTL", "nan", "cache_ttl must be a number of seconds, 0 or more, not nan"),
        ("BRAINSMITH_PLUGIN_CACHE_TTL", "inf", "cache_ttl must be a number of seconds, 0 or more, not inf"),
        (
            "BRAINSMITH_PLUGIN_MODE",
            "fast",
            "discovery_mode must be full or blueprint or selective, not 'fast'",
        ),
        ("BRAINSMITH_PLUGIN_DEBUG", "maybe", "debug must be true or false, not 'maybe'"),
    ],
)
def test_a_variable_that_cannot_be_used_is_named(variable, text, message, monkeypatch):
    monkeypatch.setenv(variable, text)
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert str(caught.value) == f"{variable}: {message}"


def test_all_errors_come_at_once_with_their_places(project, monkeypatch):
    path = project_config(
        project,
        "plugin_system:\n  cache_ttl: -1\n  discovery_mod: full\n  frameworks: qonnx\n\nbuild:\n  x: 1\n",
    )
    monkeypatch.setenv("BRAINSMITH_PLUGIN_MODE", "x")
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert sorted(str(caught.value).splitlines()) == sorted(
        [
            f"{path}:2:3: cache_ttl must be a number of seconds, 0 or more, not -1",
            f"{path}:3:3: there is no setting 'discovery_mod'. Did you mean 'discovery_mode'?",
            f"{path}:4:3: frameworks must be a list of frameworks such as [qonnx, finn], not 'qonnx'",
            f"{path}:6:1: unknown key 'build' in the settings. It takes plugin_system.",
            "BRAINSMITH_PLUGIN_MODE: discovery_mode must be full or blueprint or selective, not 'x'",
        ]
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- a\n", ":1:1: the settings must be a mapping, not a list"),
        ("plugin_system: 3\n", ":1:16: plugin_system must be a mapping, not 3"),
        (
            "plugin_system: {a: [}\n",
            ":1:21: not valid YAML: expected the node content, but found '}'",
        ),
        (b"\xff\xfe\xff", ":1:1: not UTF-8 text: byte 0xff"),
        (
            "plugin_system: {zzz: 1}\n",
            ":1:17: there is no setting 'zzz'; the settings are cache_ttl, discovery_mode, frameworks, performance_tracking, debug,"
            " dynamic_loading, device, verbose, remote_url, remote_token_file, remote_timeout, remote_verify, shared_cache,"
            " shared_cache_mode, shared_cache_timeout, plugin_folders, trust, trust_models, groups, environments",
        ),
        (
            "plugin_system: {cache_ttl: 2020-01-01}\n",
            ":1:17: cache_ttl must be a number of seconds, 0 or more, not '2020-01-01'",
        ),
        (
            "plugin_system: {cache_ttl: !!python/object:os.system x}\n",
            ":1:28: cache_ttl must be a plain value, not !!python/object:os.system x, whose YAML tag has no meaning here",
        ),
        (
            "plugin_system: {groups: {a: b}}\n",
            ":1:17: groups must be a table of lists of plugin names, not {'a': 'b'}",
        ),
        (
            "plugin_system: {environments: 1}\n",
            ":1:17: environments must be a table such as {acme: {python: /path/to/venv}}, not 1",
        ),
        (
            "plugin_system: {environments: {finn: [numpy]}}\n",
            ":1:17: environments: 'finn' is the name of a framework: choose another one",
        ),
        (
            "plugin_system: {environments: {Acme: [numpy]}}\n",
            ":1:17: environments: 'Acme' is no name of an environment: these are in lower case, such as acme",
        ),
        (
            "plugin_system: {environments: {acme: 5}}\n",
            ":1:17: environments.acme must be a table with python, or a list of requirements, not 5",
        ),
        (
            "plugin_system: {environments: {acme: {requirments: [numpy]}}}\n",
            ":1:17: environments.acme has no key 'requirments'. Did you mean 'requirements'?",
        ),
        (
            "plugin_system: {environments: {acme: {x: 1}}}\n",
            ":1:17: environments.acme has no key 'x'; the keys are python, requirements, time_limit",
        ),
        (
            "plugin_system: {environments: {acme: {python: a, requirements: [b]}}}\n",
            ":1:17: environments.acme must have either python or requirements",
        ),
        (
            "plugin_system: {environments: {acme: {time_limit: 1}}}\n",
            ":1:17: environments.acme must have either python or requirements",
        ),
        (
            "plugin_system: {environments: {acme: {python: ''}}}\n",
            ":1:17: environments.acme.python must be the folder of a virtual environment, or an interpreter, not ''",
        ),
        (
            "plugin_system: {environments: {acme: {python: a, time_limit: -1}}}\n",
            ":1:17: environments.acme.time_limit must be a number of seconds above 0, not -1",
        ),
        (
            "plugin_system: {environments: {acme: [--index-url=http://host]}}\n",
            ":1:17: environments.acme.requirements must be a list of requirements such as [numpy==1.26.4, ./acme], without options, not ['--index-url=http://host']",
        ),
        ("plugin_system: {debug: 1}\n", ":1:17: debug must be true or false, not 1"),
        (
            "plugin_system: {frameworks: [1]}\n",
            ":1:17: frameworks must be a list of frameworks such as [qonnx, finn], not [1]",
        ),
        (
            "plugin_system: {discovery_mode: [full]}\n",
            ":1:17: discovery_mode must be full or blueprint or selective, not ['full']",
        ),
        (
            "plugin_system: {cache_ttl: 1, cache_ttl: 2}\n",
            ":1:31: key 'cache_ttl' in plugin_system is given twice: first at {path}:1:17",
        ),
        ("plugin_system: {? [a] : 1}\n", ":1:19: a key in plugin_system must be a string, not a list"),
        ("a: \0\n", ":1:4: not a text file: it has control character #x00"),
    ],
)
def test_a_file_that_cannot_be_used_is_an_error_with_its_place(project, text, message):
    path = project_config(project, text)
    for _ in range(2):  # the second time from the cache, if it was kept
        with pytest.raises(SettingsError) as caught:
            load_settings()
        assert str(caught.value) == path + message.replace("{path}", path)


@pytest.mark.parametrize("text", ["", "# nothing\n", "plugin_system:\n", "plugin_system: {}\n", "---\n"])
def test_an_empty_file_is_fine(project, text):
    project_config(project, text)
    assert load_settings().sources == {}


def test_a_folder_in_place_of_the_file_is_an_error(project):
    (project / ".brainsmith" / "config.yaml").mkdir()
    with pytest.raises(SettingsError, match=r"config.yaml: this is a folder; a settings file is a YAML file"):
        load_settings()


def test_pitfall_05_a_changed_file_is_read_again(project):
    for number in range(5):
        path = project_config(project, f"plugin_system: {{cache_ttl: {number}}}\n")
        assert load_settings().cache_ttl == number
    status = os.stat(path)
    project_config(project, "plugin_system: {cache_ttl: 9}\n")  # the same size
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert load_settings().cache_ttl == 9
    os.unlink(path)
    assert load_settings().cache_ttl == 300


@pytest.mark.slow
def test_edits_of_the_same_size_within_a_tick_of_the_clock_are_all_seen(project):
    for number in range(200):
        project_config(project, f"plugin_system: {{cache_ttl: {number % 7 + 1}}}\n")
        assert load_settings().cache_ttl == number % 7 + 1


def test_parsed_settings_are_kept_so_that_yaml_is_not_imported(project):
    project_config(project, "plugin_system: {cache_ttl: 7, groups: {a: [x, 'qonnx:Y']}}\n")
    code = """
    import json, sys
    from brainsmith.settings import load_settings
    settings = load_settings()
    print(json.dumps([settings.cache_ttl, settings.groups, "yaml" in sys.modules]))
    """
    assert run_python(code, cwd=project) == [7, {"a": ["x", "qonnx:Y"]}, True]
    assert run_python(code, cwd=project) == [7, {"a": ["x", "qonnx:Y"]}, False]


def test_a_project_is_the_nearest_folder_upwards(project, monkeypatch):
    deep = project / "deep" / "er"
    assert find_project(str(deep)) == str(project)
    assert load_settings(str(deep)).project == str(project)
    (project / "deep" / ".brainsmith").mkdir()
    assert find_project(str(deep)) == str(project / "deep")
    assert find_project(str(project.parent)) is None


def test_a_current_folder_that_is_gone_is_no_project(tmp_path, monkeypatch):
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert load_settings().project is None
    assert load_settings(plugin_folders=["/x"]).plugin_folders == ("/x",)


def test_plugin_folders_are_absolute(project, monkeypatch):
    project_config(project, "plugin_system: {plugin_folders: [../shared, ~/mine, /abs]}\n")
    monkeypatch.chdir(project / "deep")
    home = os.environ["HOME"]
    assert load_settings().plugin_folders == (str(project.parent / "shared"), f"{home}/mine", "/abs")
    assert load_settings(plugin_folders=["here"]).plugin_folders == (str(project / "deep" / "here"),)


def test_plugin_folders_of_the_user_s_own_file_do_not_depend_on_the_project(project):
    path = user_config("plugin_system: {plugin_folders: [mine]}\n")
    assert load_settings().plugin_folders == (os.path.join(os.path.dirname(path), "mine"),)


def test_what_decides_a_discovery_is_in_the_key(project):
    before = load_settings().key()
    assert load_settings(cache_ttl=1, debug=True).key() == before
    for change in ({"frameworks": ["qonnx"]}, {"plugin_folders": ["/x"]}, {"groups": {"a": ["b"]}}):
        assert load_settings(**change).key() != before


def test_an_unknown_argument_is_an_error():
    with pytest.raises(SettingsError) as caught:
        load_settings(cache_tll=1)
    assert (
        str(caught.value) == "argument cache_tll: there is no setting 'cache_tll'. Did you mean 'cache_ttl'?"
    )


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ('a"b', "'\"'"),
        ("a\\b", "'\\\\'"),
        ("a$HOME", "'$'"),
        ("a\nb", "'\\n'"),
        ("a\x7fb", "'\\x7f'"),
        ("a\udcffb", "'\\udcff'"),
    ],
    ids=["quote", "backslash", "variable", "newline", "delete", "not UTF-8"],
)
def test_a_cache_folder_that_tools_cannot_take_is_refused_at_once(tmp_path, monkeypatch, name, shown):
    folder = str(tmp_path / name)
    monkeypatch.setenv("XDG_CACHE_HOME", folder)
    with pytest.raises(SettingsError) as caught:
        load_settings(str(tmp_path))
    assert str(caught.value) == (
        f"XDG_CACHE_HOME: simulations cannot be compiled in the cache folder {folder!r}, because its name holds {shown}\n"
        '  set XDG_CACHE_HOME to a folder without quotes ("), backslashes, $, control characters, and bytes that are not UTF-8'
    )


@pytest.mark.parametrize("name", ["a b", "a'b", "é", "a\u00a0b", "#;&()*?[]{}<>|!~`%,=:@+^"])
def test_other_names_of_a_cache_folder_are_taken(tmp_path, monkeypatch, name):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name))
    assert load_settings(str(tmp_path)).cache_dir == str(tmp_path / name / "brainsmith")


def test_all_environments_that_are_wrong_are_reported_at_once(project):
    path = project_config(
        project, "plugin_system: {environments: {Acme: [a], good: [b], finn: [c], d: 5}, debug: 1}\n"
    )
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert str(caught.value).splitlines() == [
        f"{path}:1:17: environments: 'Acme' is no name of an environment: these are in lower case, such as acme",
        f"{path}:1:17: environments: 'finn' is the name of a framework: choose another one",
        f"{path}:1:17: environments.d must be a table with python, or a list of requirements, not 5",
        f"{path}:1:72: debug must be true or false, not 1",
    ]


def test_defaults_need_no_checks(tmp_path):
    code = """
    import json, sys
    from brainsmith.settings import load_settings
    load_settings()
    print(json.dumps("brainsmith.setting_checks" in sys.modules))
    """
    assert run_python(code, cwd=tmp_path) is False


def test_a_shared_cache_is_named_by_its_address(monkeypatch):
    for address in (
        "redis://127.0.0.1",
        "redis://:pw@host:7000/2",
        "file:///mnt/cache",
        "s3://bucket/folder",
    ):
        monkeypatch.setenv("BRAINSMITH_SHARED_CACHE", address)
        assert load_settings().shared_cache == address
    assert load_settings(shared_cache_timeout=1, shared_cache_mode="read-only").shared_cache_timeout == 1.0


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("/mnt/cache", "'/mnt/cache'"),
        ("file://mnt/cache", "'file://mnt/cache'"),  # it would begin in whatever folder is the current one
        ("rediss://host", "'rediss://host'"),
        ("redis://", "'redis://'"),
        ("redis://me:secret@host:0", "'redis://***@host:0'"),
    ],
)
def test_another_address_is_refused_without_its_password(address, shown):
    with pytest.raises(SettingsError) as caught:
        load_settings(shared_cache=address)
    assert str(caught.value) == (
        "argument shared_cache: shared_cache must be redis://HOST:PORT, or an address of fsspec with ://, such as "
        f"file:///mnt/cache (three slashes) or s3://bucket/folder; rediss:// (TLS) is not supported, not {shown}"
    )


def test_what_may_be_done_with_a_shared_cache_is_one_of_two():
    with pytest.raises(SettingsError) as caught:
        load_settings(shared_cache_mode="write", shared_cache_timeout=0)
    assert str(caught.value) == (
        "argument shared_cache_mode: shared_cache_mode must be read-write or read-only, not 'write'\n"
        "argument shared_cache_timeout: shared_cache_timeout must be a number of seconds above 0, not 0"
    )
