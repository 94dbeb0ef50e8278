"""Programs on disk: found by content, never believed when damaged."""

from types import SimpleNamespace

import numpy as np
import pytest

from brainsmith.execution import kept
from brainsmith.execution.program.array_program import Program
from brainsmith.execution.program.lower import lower
from brainsmith.execution.runnable import runnable_copy
from brainsmith.execution.signature import ModelSignature
from brainsmith.store import about
from tests.build import graphs


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def obtain_program(content, make):
    def made():
        program = make()
        return program, kept.plain_program(program), program.modules

    return kept.kept("programs", content).obtain(kept.whole_program, made)


def counted(programs):
    made = []

    def make():
        made.append(1)
        return programs

    return make, made


def files(folder):
    return sorted(path for path in folder.glob("brainsmith/programs/*") if path.is_file())


def test_a_program_is_made_once(tmp_path):
    program = lower(runnable_copy(graphs.quant_mlp()))
    make, made = counted(program)
    first, second = obtain_program("a", make), obtain_program("a", make)
    assert len(made) == 1
    assert first is program
    stack = graphs.samples(graphs.quant_mlp())[:, None]
    np.testing.assert_array_equal(first.run({"x": stack})["m1"], second.run({"x": stack})["m1"])
    obtain_program("b", make)
    assert len(made) == 2
    assert len(files(tmp_path)) == 2


@pytest.mark.parametrize("damage", [b"", b"no program", None], ids=["empty", "other", "one bit"])
def test_a_damaged_file_is_as_good_as_none(tmp_path, monkeypatch, damage):
    monkeypatch.setattr(about, "time", SimpleNamespace(time=lambda: 0.0))  # both files are of the same time
    make, made = counted(lower(runnable_copy(graphs.quant_mlp())))
    obtain_program("a", make)
    (file,) = files(tmp_path)
    whole = file.read_bytes()
    file.write_bytes(damage if damage is not None else whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:])
    obtain_program("a", make)
    assert len(made) == 2
    assert file.read_bytes() == whole
    obtain_program("a", make)
    assert len(made) == 2


@pytest.mark.slow
def test_a_folder_that_cannot_be_written_only_costs_time(tmp_path):
    (tmp_path / "brainsmith").write_text("in the way")
    program = Program(ModelSignature((), ()), (), {}, (), {})
    make, made = counted(program)
    assert obtain_program("a", make) is program
    assert obtain_program("a", make) is program
    assert len(made) == 2


def test_a_file_that_the_model_names_counts(tmp_path):
    from brainsmith.store.reads import file_digest

    part = tmp_path / "part.onnx"
    part.write_bytes(b"one")
    program = Program(ModelSignature((), ()), (), {}, (), {}, files={str(part): file_digest(str(part))})
    make, made = counted(program)
    obtain_program("a", make)
    obtain_program("a", make)
    assert len(made) == 1
    part.write_bytes(b"two")
    obtain_program("a", make)
    assert len(made) == 2
    part.unlink()
    obtain_program("a", make)
    assert len(made) == 3


def test_what_cannot_be_told_from_files_is_not_kept(tmp_path):
    make, made = counted(Program(ModelSignature((), ()), (), {}, (), {}, files=None))
    obtain_program("a", make)
    obtain_program("a", make)
    assert len(made) == 2
    assert files(tmp_path) == []


def test_other_code_and_other_rounding_have_other_programs(monkeypatch):
    make, made = counted(Program(ModelSignature((), ()), (), {}, (), {}))
    obtain_program("a", make)
    monkeypatch.setenv("ERROR_THRESH", "0.1")
    obtain_program("a", make)
    assert len(made) == 2
    monkeypatch.setattr(kept, "foreign_code", lambda: "upgraded")
    obtain_program("a", make)
    assert len(made) == 3


def test_a_relative_file_is_another_one_in_another_folder(tmp_path, monkeypatch):
    from brainsmith.store.reads import file_digest

    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "part.onnx").write_text(folder)
    monkeypatch.chdir(tmp_path / "one")
    program = Program(ModelSignature((), ()), (), {}, (), {}, files={"part.onnx": file_digest("part.onnx")})
    make, made = counted(program)
    obtain_program("a", make)
    obtain_program("a", make)
    assert len(made) == 1
    monkeypatch.chdir(tmp_path / "two")
    obtain_program("a", make)
    assert len(made) == 2
