"""Upgraded packages make other programs and rewritten models."""

import sys

from brainsmith.execution.foreign_code import PACKAGES, foreign_code

look = foreign_code.__wrapped__


def test_the_packages_that_are_here_are_told():
    for package in PACKAGES:
        assert f"/{package}" in look()


def test_another_version_another_place_and_another_installation_are_told(tmp_path, monkeypatch):
    before = look()
    monkeypatch.syspath_prepend(tmp_path)
    assert look() == before
    (tmp_path / "unrelated-1.0.dist-info").mkdir()
    assert look() == before
    (tmp_path / "qonnx-1.0.0.dist-info").mkdir()
    elsewhere = look()
    assert elsewhere != before
    (tmp_path / "qonnx-1.0.0.dist-info").rename(tmp_path / "qonnx-1.0.1.dist-info")
    upgraded = look()
    assert upgraded not in (before, elsewhere)
    (tmp_path / "qonnx-1.0.1.dist-info" / "RECORD").write_text("")
    assert look() not in (before, elsewhere, upgraded)


def test_nothing_is_imported(tmp_path, monkeypatch):
    before = set(sys.modules)
    look()
    assert set(sys.modules) == before
