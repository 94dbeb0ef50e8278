"""What builds state of their files, and what a folder is found to be beside that."""

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainsmith.build import build, provenance
from brainsmith.build.provenance import FILE, BuildInputs, check_provenance, write_provenance
from brainsmith.errors import BuildError
from tests.build import graphs


def made(folder, files):
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    write_provenance(folder, BuildInputs({"output": "rtl"}, b"model", [], ["numpy"], [], []))
    return folder


FILES = {
    "model.onnx": b"1",
    "accelerator/hdl/a.sv": b"2",
    "accelerator/README.md": b"3",
    "report/a.json": b"4",
}


def test_damaged_statements_are_refused(tmp_path):
    folder = made(tmp_path / "out", FILES)
    whole = json.loads((folder / FILE).read_text())
    for keys, value in (
        (("predicate", "buildDefinition", "resolvedDependencies"), [{"digest": 1}]),
        (("predicate", "buildDefinition", "resolvedDependencies"), 3),
        (("predicate", "runDetails"), None),
        (("predicate",), []),
        (("subject",), [{"name": "a"}]),
        (("subject",), [{"name": "a", "digest": {"sha256": [1]}}]),
        (("subject",), [{"name": 5, "digest": {"sha256": "ab"}}]),
        (("predicate", "buildDefinition", "resolvedDependencies"), [{"name": ""}]),
        (
            ("predicate", "buildDefinition", "resolvedDependencies"),
            [{"name": "a", "annotations": {"version": 5}}],
        ),
    ):
        damaged = json.loads(json.dumps(whole))
        at = damaged
        for key in keys[:-1]:
            at = at[key]
        at[keys[-1]] = value
        (folder / FILE).write_text(json.dumps(damaged))
        with pytest.raises(BuildError) as caught:
            check_provenance(folder)
        assert str(caught.value).startswith(
            f"{folder / FILE} is no statement of a build: it must be https://in-toto.io/"
        )


def test_a_statement_that_is_nested_too_deeply_and_a_file_that_cannot_be_read(tmp_path, monkeypatch):
    folder = made(tmp_path / "out", FILES)

    def refused(path):
        raise PermissionError(13, "Permission denied", str(path))

    with monkeypatch.context() as patch:
        patch.setattr(provenance, "_sha256", refused)
        with pytest.raises(BuildError, match=r"README.md cannot be read: Permission denied"):
            check_provenance(folder)
    (folder / FILE).write_text("[" * 100_000)
    with pytest.raises(BuildError, match=r"provenance.json is damaged: "):
        check_provenance(folder)


def dependencies(folder):
    statement = json.loads((folder / FILE).read_text())
    return {one["name"]: one for one in statement["predicate"]["buildDefinition"]["resolvedDependencies"]}


def test_a_build_states_what_it_read_and_made(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    graphs.quant_mlp().save("net.onnx")
    (tmp_path / "b.yaml").write_text("hw_compiler:\n  steps: [cleanup]\n")
    build("net.onnx", blueprint="b.yaml", output="out", report=False)
    statement = json.loads((tmp_path / "out" / FILE).read_text())
    assert (statement["_type"], statement["predicateType"]) == (
        "https://in-toto.io/Statement/v1",
        "https://slsa.dev/provenance/v1",
    )
    there = {one["name"]: one["digest"]["sha256"] for one in statement["subject"]}
    assert sorted(there) == ["checkpoints/01_cleanup.onnx", "model.onnx", "report.json"]
    for name, digest in there.items():
        assert hashlib.sha256((tmp_path / "out" / name).read_bytes()).hexdigest() == digest
    read = dependencies(tmp_path / "out")
    assert {name: one["annotations"]["used as"] for name, one in read.items()}.items() >= {
        "model": "model with its weights", "net.onnx": "model file", "b.yaml": "blueprint", "qonnx": "package",
        "g++": "tool", "python": "interpreter", "brainsmith.steps.cleanup:cleanup": "plugin",
    }.items()  # fmt: skip
    for name in ("net.onnx", "b.yaml"):
        assert read[name]["digest"]["sha256"] == hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
    assert len(read["onnx"]["digest"]["sha256"]) == 64 and read["onnx"]["annotations"]["version"]
    assert str(tmp_path / "out") not in (tmp_path / "out" / FILE).read_text()
    assert check_provenance(tmp_path / "out").is_whole


def test_a_second_build_of_the_same_states_the_same_of_what_it_read(tmp_path):
    for name in ("one", "other"):
        build(graphs.quant_mlp(), output=tmp_path / name, steps=["cleanup"], report=False)
    assert dependencies(tmp_path / "one") == dependencies(tmp_path / "other")


@given(
    changed=st.sets(st.sampled_from(sorted(FILES))),
    gone=st.sets(st.sampled_from(sorted(FILES))),
    new=st.booleans(),
)
def test_each_file_that_is_not_as_it_was_made_is_named(tmp_path_factory, changed, gone, new):
    folder = made(tmp_path_factory.mktemp("built"), FILES)
    for name in changed:
        (folder / name).write_bytes(FILES[name] + b"!")
    for name in gone:
        (folder / name).unlink()
    (folder / "report").mkdir(exist_ok=True)
    if new:
        (folder / "report/new.txt").write_text("")
    found = check_provenance(folder)
    assert found.changed == tuple(sorted(changed - gone))
    assert found.missing == tuple(sorted(gone))
    assert found.new == (("report/new.txt",) if new else ())
    assert found.same == len(FILES) - len(changed | gone)
    assert found.is_whole == (not changed and not gone)


def test_a_folder_of_which_nothing_is_stated_is_an_error(tmp_path):
    file = made(tmp_path / "out", FILES) / FILE
    (tmp_path / "else").mkdir()
    with pytest.raises(BuildError) as caught:
        check_provenance(tmp_path / "else", file)
    assert (
        str(caught.value)
        == f"{file} says nothing of {tmp_path / 'else'}: none of the files that it names is there"
    )


def test_a_folder_of_a_build_may_have_moved_and_have_another_name(tmp_path):
    folder = made(tmp_path / "out", FILES)
    assert check_provenance(folder / "accelerator").same == 2
    moved = (folder / "accelerator").rename(tmp_path / "mine")
    assert check_provenance(moved, folder / FILE).same == 2
    (moved / "hdl/a.sv").write_text("else")
    found = check_provenance(moved, folder / FILE)
    assert (found.same, found.changed, found.missing, found.new) == (1, ("hdl/a.sv",), (), ())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "there is no {file}\n  builds write it into their output folder; --provenance FILE names one elsewhere"),
        ("[", "{file} is damaged: Expecting value: line 1 column 2 (char 1)"),
        ("[]", "{file} is no statement of a build: it must be https://in-toto.io/Statement/v1 with "
               "https://slsa.dev/provenance/v1"),
        ("{}", "{file} is no statement of a build: it must be https://in-toto.io/Statement/v1 with "
               "https://slsa.dev/provenance/v1"),
    ],
)  # fmt: skip
def test_a_statement_that_cannot_be_used_is_an_error(tmp_path, content, message):
    file = tmp_path / FILE
    if content is not None:
        file.write_text(content)
    with pytest.raises(BuildError) as caught:
        check_provenance(tmp_path, file)
    assert str(caught.value) == message.format(file=file)


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a/../../x"])
def test_a_statement_reaches_nothing_outside(tmp_path, name):
    folder = made(tmp_path / "out", FILES)
    text = (folder / FILE).read_text().replace("model.onnx", name)
    (folder / FILE).write_text(text)
    with pytest.raises(BuildError) as caught:
        check_provenance(folder)
    assert str(caught.value) == f"{folder / FILE} names {name!r}, which is outside of a build's folder"
    with pytest.raises(BuildError) as caught:
        check_provenance(tmp_path / "none")
    assert str(caught.value) == f"{tmp_path / 'none'} is no folder"
