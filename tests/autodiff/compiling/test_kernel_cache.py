"""What is compiled is kept by content: built once, whole, and never believed when damaged."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from brainsmith.autodiff.compiling import kernel_cache
from brainsmith.autodiff.compiling.compiled import CompiledExpression
from brainsmith.errors import OpError, ToolError

TEXT = "inputs = 1; t0 = add(x0, {}); return t0"
X = np.arange(5, dtype=np.float32)


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """Give an empty cache, and a process that has loaded nothing."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(kernel_cache, "_LOADED", {})
    return tmp_path / "brainsmith" / "ops"


def entries(cache):
    return sorted(path for path in cache.iterdir() if (path / "op.so").exists())


def forbid_compiling(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("compiled again")

    monkeypatch.setattr(kernel_cache, "run", refuse)


@pytest.mark.slow
def test_what_was_built_is_not_built_again(cache, monkeypatch):
    CompiledExpression(TEXT.format(1))(X)
    (entry,) = entries(cache)
    assert sorted(path.name for path in entry.iterdir()) == ["manifest.json", "op.so", "unit.cpp"]
    forbid_compiling(monkeypatch)
    monkeypatch.setattr(kernel_cache, "_LOADED", {})
    np.testing.assert_array_equal(CompiledExpression(TEXT.format(1))(X), X + 1)


@pytest.mark.slow
def test_a_second_process_builds_nothing(cache):
    CompiledExpression(TEXT.format(2))(X)
    code = f"""
import numpy as np
from brainsmith.autodiff.compiling import kernel_cache
from brainsmith.autodiff.compiling.compiled import CompiledExpression
def refuse(*_, **__):
    raise AssertionError("compiled again")
kernel_cache.run = refuse
print(CompiledExpression("{TEXT.format(2)}")(np.arange(5, dtype=np.float32)).tolist())
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout == "[2.0, 3.0, 4.0, 5.0, 6.0]\n", done.stderr


@pytest.mark.slow
def test_a_damaged_entry_is_built_again(cache, monkeypatch):
    CompiledExpression(TEXT.format(3))(X)
    (entry,) = entries(cache)
    content = (entry / "op.so").read_bytes()
    # A file of its own: the one that is loaded must stay as it is.
    (entry / "op.so").unlink()
    (entry / "op.so").write_bytes(content[:100])
    monkeypatch.setattr(kernel_cache, "_LOADED", {})
    np.testing.assert_array_equal(CompiledExpression(TEXT.format(3))(X), X + 3)
    assert len((entry / "op.so").read_bytes()) == len(content)


@pytest.mark.slow
def test_two_at_once_build_it_once(cache, monkeypatch):
    built = []

    def count(command, **options):
        built.append(command)
        return real(command, **options)

    real = kernel_cache.run
    monkeypatch.setattr(kernel_cache, "run", count)
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(CompiledExpression(TEXT.format(4))(X).tolist()))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [(X + 4).tolist()] * 2
    assert len(built) == 1


@pytest.mark.slow
def test_a_compiler_that_does_not_know_this_cpu_builds_for_any(cache, monkeypatch):
    monkeypatch.setattr(kernel_cache, "NATIVE", ("-march=no-such-cpu",))
    np.testing.assert_array_equal(CompiledExpression(TEXT.format(5))(X), X + 5)


def test_what_is_missing_in_a_program_is_said(cache):
    with pytest.raises(ToolError) as caught:
        kernel_cache.build("not C++", "sample")
    assert str(caught.value).startswith("compiling operation 'sample' failed with exit code 1: ")
    assert entries(cache) == []


def test_a_cache_that_cannot_be_written_is_named(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(OpError) as caught:
        CompiledExpression(TEXT.format(6))(X)
    assert str(caught.value) == (
        f"{tmp_path}/file/brainsmith/ops: the folder for results of builds cannot be written: Not a directory\n"
        "  free space or make it writable, or set XDG_CACHE_HOME to another folder"
    )


@pytest.mark.slow
def test_eight_threads_compute_at_once(cache):
    function = CompiledExpression("inputs = 1; t0 = multiply(x0, x0); t1 = sum(t0); return t1")
    arrays = [np.full(10_001, at, np.float32) for at in range(8)]
    found = {}

    def work(at):
        found[at] = {float(function(arrays[at])) for _ in range(50)}

    threads = [threading.Thread(target=work, args=(at,)) for at in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {at: {10_001.0 * at * at} for at in range(8)}


def test_no_flag_changes_values():
    assert not {"-ffast-math", "-Ofast", "-funsafe-math-optimizations"} & set(kernel_cache.FLAGS)
    assert Path(kernel_cache.__file__).with_name("vector_math.hpp").is_file()
