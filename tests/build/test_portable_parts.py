"""Parts of keys, and reads, as they mean the same on every machine."""

import json
import os
import sys

import pytest

from brainsmith.build.environment import framework_contents
from brainsmith.build.keys import PARTS as NAMES
from brainsmith.build.keys import framework_versions
from brainsmith.build.portable_parts import NotPortableError, PortableParts
from brainsmith.settings import load_settings
from brainsmith.store.reads import ABSENT, WORKING_FOLDER, Reads, working_folder_digest


@pytest.fixture
def project(tmp_path, monkeypatch):
    folder = tmp_path / "project"
    (folder / ".brainsmith").mkdir(parents=True)
    (folder / "plugins").mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def portable(project):
    return PortableParts(load_settings(), [project / "plugins"])


def parts_of(**more):
    return {
        **dict.fromkeys(NAMES, ""),
        "plugins": "{}",
        "frameworks": '{"onnx": "1"}',
        "step": "x:fold",
        **more,
    }


def test_plugins_count_by_their_place_in_the_project(portable, project):
    plugins = json.dumps({str(project / "plugins" / "a" / "b.py"): "1", "step:tidy: >=2": "asked for"})
    found = portable.parts(parts_of(plugins=plugins))
    assert json.loads(found["plugins"]) == {"plugins0/a/b.py": "1", "step:tidy: >=2": "asked for"}
    assert found["machine"].startswith(f"{sys.platform} {os.uname().machine}")
    assert found["frameworks"] == '{"onnx": "1"}'


def test_of_its_parts_the_local_ones_are_made_again(portable, project):
    plugins = json.dumps({str(project / "plugins" / "b.py"): "1", "need": "asked for"})
    parts = parts_of(plugins=plugins, model="m")
    current = {"plugins": json.dumps({str(project / "plugins" / "b.py"): "1"}), "frameworks": '{"onnx": "1"}'}
    shared = portable.parts(parts)
    assert portable.local(shared, current) == {
        **parts,
        "plugins": json.dumps(json.loads(plugins), sort_keys=True),
    }
    for other in (
        {**current, "plugins": "{}"},
        {**current, "frameworks": '{"onnx": "2"}'},
    ):
        assert portable.local(shared, other) is None
    assert portable.local({**shared, "machine": "another"}, current) is None
    assert portable.local({**shared, "plugins": "[]"}, current) is None


def test_frameworks_count_by_the_content_of_their_sources():
    local = framework_versions()
    found = framework_contents(local)
    assert found.keys() == local.keys()
    assert found["onnx"] == local["onnx"]
    assert found["qonnx"].partition(" (")[0] == local["qonnx"].partition(" (")[0]
    assert found["qonnx"] != local["qonnx"]
    assert framework_contents(local) == found
    assert framework_contents({**local, "qonnx": "1.0.0 (0)"}) is None


def test_earlier_sources_of_a_framework_are_on_no_other_machine(portable):
    with pytest.raises(NotPortableError, match=r"^it was made with earlier sources of the frameworks$"):
        portable.parts(parts_of(frameworks='{"qonnx": "1.0.0 (0)"}'))


@pytest.mark.parametrize(
    "more",
    [
        {"plugins": '{"/elsewhere/b.py": "1"}'},
        {"arguments": '{"file": "PROJECT/data.npy"}'},
        {"inputs": '{"HOME/x": "1"}'},
        {"changes": "{'x': 'PREFIX/x'}"},
    ],
)
def test_a_key_with_a_folder_of_this_machine_is_not_shared(portable, project, more):
    known = {"PROJECT": str(project), "HOME": os.environ["HOME"], "PREFIX": sys.prefix}
    ((name, text),) = more.items()
    for word, folder in known.items():
        text = text.replace(word, folder)
    with pytest.raises(NotPortableError):
        portable.parts(parts_of(**{name: text}))


def test_settings_count_by_what_they_are_and_so_does_what_lies_elsewhere(portable, project):
    library = f"{sys.base_prefix}/lib/python9.zip"
    settings = load_settings()
    files = {
        settings.files[0]: "1",
        settings.files[1]: "2",
        library: ABSENT,
        "/etc/x": "3",
        "relative.txt": "4",
    }
    reads = Reads(files, {"/etc": "5"}, {"A": "6", WORKING_FOLDER: working_folder_digest()})
    plain = portable.reads(reads)
    assert plain == {
        "files": {
            "settings 1": "1",
            "settings 0": "2",
            "python/lib/python9.zip": ABSENT,
            "/etc/x": "3",
            "relative.txt": "4",
            WORKING_FOLDER: ABSENT,
        },
        "folders": {"/etc": "5"},
        "variables": {"A": "6"},
    }
    assert str(project) not in json.dumps(plain)
    assert portable.local_reads(plain).plain() == reads.plain()


@pytest.mark.parametrize("place", ["project", "home", "python"])
def test_a_file_of_this_user_or_project_is_not_shared(portable, project, place):
    folder = {"project": str(project), "home": os.environ["HOME"], "python": sys.prefix}[place]
    for reads in (
        Reads({f"{folder}/table.csv": "1"}),
        Reads({f"{folder}/x": ABSENT}),
        Reads(folders={folder: "1"}),
    ):
        with pytest.raises(NotPortableError, match=r"^it names "):
            portable.reads(reads)


def test_two_checkouts_have_the_same_parts(tmp_path, monkeypatch):
    found = []
    for name in ("one", "deep/other name"):
        folder = tmp_path / name
        (folder / ".brainsmith").mkdir(parents=True)
        (folder / "plugins").mkdir()
        monkeypatch.chdir(folder)
        plugins = json.dumps({str(folder / "plugins" / "b.py"): "1"})
        portable = PortableParts(load_settings(), [folder / "plugins"])
        reads = portable.reads(Reads({str(folder / ".brainsmith" / "config.yaml"): "1"}))
        found.append((portable.parts(parts_of(plugins=plugins)), reads))
    assert found[0] == found[1]
