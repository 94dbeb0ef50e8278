"""`brainsmith cache`: what is listed, shown and removed, and what is said of what cannot be."""

import json
import os
import re
from pathlib import Path

import pytest

from brainsmith.store import entry_locks, inventory
from brainsmith.store.about import MadeBy
from brainsmith.store.fingerprint import digest, short_digest
from brainsmith.store.folders import KeptFolders
from brainsmith.store.values import Kept
from tests.cli.command import brainsmith, in_this_process

KEY = "3f9c" * 10
TOP = digest("top")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache with one build's step, one simulation and one discovery."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(entry_locks, "RECENT", 0)
    folder = tmp_path / "brainsmith"
    model, source = tmp_path / "model.onnx", tmp_path / "read.txt"
    model.write_text("a model")
    source.write_text("a source")
    fill = lambda work: (work / "file").write_bytes(b"x" * 2000)  # noqa: E731
    with MadeBy({str(model): digest("a model")}, model="model.onnx", output="build/out", step="fold"):
        about = {
            "of": "step brainsmith:fold",
            "parts": {"arguments": "{}"},
            "files": {str(source): digest("a source")},
        }
        KeptFolders(folder / "builds" / "entries").store(f"{KEY}/{'ab' * 20}", fill, about)
        KeptFolders(folder / "rtl").store(TOP, fill, {"of": "module top"})
    status = source.stat()
    stamps = [(status.st_mtime_ns, status.st_ctime_ns, status.st_size)]
    Kept(str(folder), "discovery", "a").save(
        None, ([str(source)], stamps), {"of": "plugins", "stamped": (0, 1)}
    )
    Kept(str(folder), "definitions", "a").save(None, 1, {"of": "plugins", "beside": "discovery"})
    return folder


def run(capsys, *words):
    done = in_this_process(capsys, "cache", *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout) if "--json" in words else done.stdout


def refused(capsys, code, *words):
    done = in_this_process(capsys, "cache", *words)
    assert (done.returncode, done.stdout) == (code, "")
    return done.stderr


def test_kinds_are_listed_with_their_sizes_and_entries_with_what_they_are_of(cache, capsys):
    rows = {row[0]: row for row in (line.split("\t") for line in run(capsys, "list").splitlines())}
    assert rows["hls"] == ["hls", "0", "0 B", "1.07 GB", "", "", "compiled HLS C++"]
    assert (rows["builds"][1], rows["builds"][3]) == ("1", "2.15 GB")
    assert rows["builds"][4:6] == ["less than a minute ago"] * 2
    document = run(capsys, "list", "--json")
    assert (document["path"], document["entries"]) == (str(cache), 4)
    (kind,) = [kind for kind in document["kinds"] if kind["kind"] == "builds"]
    assert kind["bytes"] > 2000
    (row,) = [line.split("\t") for line in run(capsys, "list", "builds").splitlines()]
    ago = "less than a minute ago"
    assert (row[0], row[2:]) == (KEY[:12], [ago, ago, "step brainsmith:fold, model.onnx"])
    (entry,) = run(capsys, "list", "simulations", "--json")["entries"]
    assert (entry["key"], entry["of"], entry["by"]["step"]) == (TOP, "module top", "fold")


def test_an_entry_is_shown_by_the_beginning_of_its_key(cache, capsys):
    shown = dict(line.split("  ", 1) for line in run(capsys, "show", "3f9").splitlines() if line[0] != " ")
    shown = {name: value.strip() for name, value in shown.items()}
    assert {
        name: shown[name] for name in ("of", "made by", "valid", "depends on", "came from", "key: arguments")
    } == {
        "of": "step brainsmith:fold",
        "made by": "model model.onnx, output build/out, step fold",
        "valid": "yes",
        "depends on": "1 file",
        "came from": str(cache.parent / "model.onnx"),
        "key: arguments": "{}",
    }
    assert run(capsys, "show", f"{KEY[:6]}/ab", "--json") == run(
        capsys, "show", f"builds/{KEY[:6]}", "--json"
    )
    (cache.parent / "read.txt").write_text("another")
    assert run(capsys, "show", "3f9", "--json")["reason"] == f"{cache.parent}/read.txt changed since"
    (cache.parent / "read.txt").unlink()
    assert f"valid           no: {cache.parent}/read.txt no longer exists\n" in run(capsys, "show", "3f9")


def test_a_key_that_no_entry_or_several_have_is_refused(cache, capsys):
    assert refused(capsys, 1, "show", "abc") == (
        "error: no entry has a key that begins with 'abc'\n  brainsmith cache list KIND lists keys\n"
    )
    assert refused(capsys, 1, "show", f"{TOP[:5]}x{TOP[6:12]}") == (
        f"error: no entry has a key that begins with '{TOP[:5]}x{TOP[6:12]}'; close to it: simulations/{TOP[:12]}\n"
        "  brainsmith cache list KIND lists keys\n"
    )
    name = os.listdir(cache / "discovery")[0]
    assert name == short_digest(Kept(str(cache), "discovery", "a").key)
    message = refused(capsys, 1, "show", name[:5])
    assert message.startswith(f"error: the keys of 2 entries begin with '{name[:5]}':\n")
    assert sorted(message.splitlines()[1:]) == [f"  definitions/{name}", f"  discovery/{name}"]
    assert run(capsys, "show", f"discovery/{name[:5]}", "--json")["valid"]


def test_why_tells_what_depends_on_a_file_from_what_came_from_it(cache, capsys):
    source, model = cache.parent / "read.txt", cache.parent / "model.onnx"
    found = {
        (entry["kind"], entry["depends"], entry["agrees"])
        for entry in run(capsys, "why", str(source), "--json")["entries"]
    }
    assert found == {(kind, True, True) for kind in ("builds", "discovery", "definitions")}
    model.write_text("another model")
    source.write_text("another")
    rows = [line.split("\t") for line in run(capsys, "why", str(model)).splitlines()]
    assert sorted((row[0], row[3]) for row in rows) == [
        ("builds", "changed: used for the old content only"),
        ("simulations", "changed: used for the old content only"),
    ]
    os.chdir(cache.parent)
    assert {line.split("\t")[3] for line in run(capsys, "why", "read.txt").splitlines()} == {
        "changed: not used any more"
    }
    assert run(capsys, "why", "none.txt") == (
        "no entry depends on none.txt\n  brainsmith cache list shows what is kept; brainsmith build --explain says of each "
        "step why it was not reused\n"
    )


def test_prune_and_clear_say_what_they_removed(cache, capsys):
    os.utime(cache / "rtl" / TOP, (1e9, 1e9))
    before = run(capsys, "list", "--json")["bytes"]
    said = run(capsys, "prune", "--keep", f"{before - 1}", "--dry-run")
    assert re.fullmatch(rf"would remove 1 entry, 2.\d\d kB; \d.\d\d kB left in {cache}\n", said)
    assert run(capsys, "prune", "--older-than", "2w", "--json")["removed"] == [f"simulations/{TOP}"]
    assert run(capsys, "prune", "--keep", "5 GiB", "--json")["removed"] == []
    assert run(capsys, "clear", "builds", "--json")["removed"] == [f"builds/{KEY}/{'ab' * 20}"]
    assert run(capsys, "clear").endswith(f"; 0 B left in {cache}\n")
    assert run(capsys, "list", "--json")["entries"] == 0


def test_what_is_in_use_is_named(cache, capsys, monkeypatch):
    monkeypatch.setattr(entry_locks, "RECENT", 1)
    KeptFolders(cache / "rtl").find(TOP)
    size = run(capsys, "list", "simulations").split("\t")[1]
    printed = run(capsys, "clear", "simulations")
    assert printed == (
        f"removed 0 entries, 0 B; {size} left in {cache}\n"
        f"  kept simulations/{TOP} ({size}): a running process uses it\n"
    )


@pytest.mark.parametrize("size", ["abc", "-1", "5XB", "5 5", "GB", "inf", "1e3"])
def test_a_size_that_is_none_is_refused(cache, capsys, size):
    assert refused(capsys, 2, "prune", f"--keep={size}") == (
        f"error: --keep must be a size, such as 5GB or 500 MiB, not {size!r}\n"
        "  brainsmith cache prune --help shows its options\n"
    )


def test_an_age_or_kind_that_is_none_is_refused(cache, capsys):
    assert refused(capsys, 2, "prune", "--older-than", "soon") == (
        "error: --older-than must be an age, such as 30d, 12h, 10m or 2w, not 'soon'\n"
        "  brainsmith cache prune --help shows its options\n"
    )
    message = refused(capsys, 2, "clear", "simulation")
    assert message.startswith("error: KIND must be builds, steps, simulations, ")
    assert "not 'simulation'. Did you mean 'simulations'?\n" in message


def test_damaged_entries_and_what_is_none_end_nothing(cache, capsys):
    (name,) = os.listdir(cache / "discovery")
    (cache / "discovery" / name).write_bytes(b"noise")
    (cache / "rtl" / TOP / "file").write_text("damaged")
    (cache / "rtl" / "noise").mkdir()
    os.mkfifo(cache / "discovery" / "pipe")
    os.mkfifo(cache / "rtl" / "pipe")
    for key in (f"discovery/{name}", TOP[:9], "discovery/pipe", "simulations/pipe", "noise"):
        assert run(capsys, "show", key, "--json")["reason"] == "it is damaged"
    assert len(run(capsys, "list", "discovery").splitlines()) == 2
    assert run(capsys, "why", str(cache / "rtl" / "pipe"), "--json")["entries"] == []
    assert run(capsys, "clear", "--json")["left"] == 0


def test_a_folder_that_is_not_there_holds_nothing(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "none"))
    assert run(capsys, "list", "builds") == ""
    assert run(capsys, "clear") == f"removed 0 entries, 0 B; 0 B left in {tmp_path}/none/brainsmith\n"
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("words", [("list",), ("show", "a"), ("why", "a"), ("prune",), ("clear",)])
def test_a_folder_of_another_user_is_refused(cache, capsys, monkeypatch, words):
    monkeypatch.setattr(inventory, "why_untrusted", lambda path: "belongs to another user (eve)")
    assert refused(capsys, 1, *words) == (
        f"error: the cache folder {cache} belongs to another user (eve)\n  set XDG_CACHE_HOME to a folder of your own\n"
    )


@pytest.mark.slow
@pytest.mark.finds_anew
def test_law_after_clear_a_build_gives_the_same(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    root = Path(__file__).parents[2]
    words = (str(root / "examples/digits/mlp.onnx"), "--blueprint", str(root / "blueprints/digits_mlp.yaml"))
    outputs = ("one", "two")
    for output in outputs:
        assert brainsmith("build", *words, "--output", output, "--quiet").returncode == 0
        found = brainsmith("cache", "why", str(root / "examples/digits/digits_mlp_x.npy"), "--json").stdout
        assert {"builds", "comparisons"} <= {entry["kind"] for entry in json.loads(found)["entries"]}
        assert brainsmith("cache", "clear", "--json").stdout.count('"left": 0') == 1
    one, two = (
        {path.relative_to(output): path.read_bytes() for path in Path(output).rglob("*.onnx")}
        for output in outputs
    )
    assert len(one) > 5
    assert one == two
