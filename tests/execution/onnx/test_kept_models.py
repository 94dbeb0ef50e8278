"""Rewritten models on disk: the same as when they were made, not believed when damaged, bounded."""

import os

import pytest

from brainsmith.execution import kept
from brainsmith.execution.onnx.rewrite import rewrite
from brainsmith.execution.onnx.standard_model import StandardModel
from brainsmith.store import quota
from tests.execution.onnx.test_rewrite import network


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def obtain(content, make, lasts=lambda: True):
    def made():
        standard = make()
        return standard, standard.to_plain() if lasts() else None, ()

    return kept.kept("onnxruntime", content).obtain(StandardModel.of_plain, made)


def never():
    raise AssertionError("it is on disk")


def files(folder):
    return sorted(path for path in folder.glob("brainsmith/onnxruntime/*") if path.is_file())


def test_a_model_is_kept_whole(folder):
    standard = rewrite(network())
    assert obtain("one", lambda: standard) is standard
    assert obtain("one", never) == standard
    with pytest.raises(AssertionError):
        obtain("another", never)


def test_what_does_not_last_is_made_each_time(folder):
    standard = rewrite(network())
    assert obtain("one", lambda: standard, lasts=lambda: False) is standard
    assert files(folder) == []
    with pytest.raises(AssertionError):
        obtain("one", never)


def test_what_qonnx_is_told_of_annotations_makes_another_model(folder, monkeypatch):
    standard = rewrite(network())
    obtain("one", lambda: standard)
    monkeypatch.setenv("SANITIZE_QUANT_TENSORS", "0")
    with pytest.raises(AssertionError):
        obtain("one", never)


def test_upgraded_packages_make_another_model(folder, monkeypatch):
    standard = rewrite(network())
    obtain("one", lambda: standard)
    monkeypatch.setattr(kept, "foreign_code", lambda: "upgraded")
    with pytest.raises(AssertionError):
        obtain("one", never)


def test_a_damaged_file_is_made_again(folder):
    standard = rewrite(network())
    obtain("one", lambda: standard)
    (file,) = files(folder)
    file.write_bytes(file.read_bytes()[:-7] + b"damaged")
    assert obtain("one", lambda: standard) is standard
    assert obtain("one", never) == standard


def test_what_making_raises_leaves_nothing(folder):
    with pytest.raises(AssertionError):
        obtain("one", never)
    assert files(folder) == []


@pytest.mark.slow
def test_what_cannot_be_written_is_made_each_time(folder, monkeypatch):
    (folder / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "file"))
    standard = rewrite(network())
    assert obtain("one", lambda: standard) is standard
    assert obtain("one", lambda: standard) is standard


def test_the_models_used_longest_ago_go_first(folder, monkeypatch):
    standard = rewrite(network())
    for age, name in ((30, "one"), (20, "two")):
        before = set(files(folder))
        obtain(name, lambda: standard)
        (new,) = set(files(folder)) - before
        os.utime(new, (1_000_000 - age, 1_000_000 - age))
    obtain("one", never)  # used now
    monkeypatch.setitem(quota.QUOTAS, "onnxruntime", 2 * files(folder)[0].stat().st_size + 10)
    obtain("three", lambda: standard)
    assert obtain("one", never) == obtain("three", never) == standard
    with pytest.raises(AssertionError):
        obtain("two", never)
