"""The versions of installed distributions are those that importlib.metadata tells, without its import."""

import sys
from importlib import metadata

from brainsmith.plugin.distributions import distribution_key, installed_versions


def test_they_are_what_the_standard_library_says():
    wanted = {}
    for found in metadata.distributions():  # the first of a name wins
        wanted.setdefault(distribution_key(found.name), found.version)
    assert installed_versions() == wanted


def test_a_version_that_no_folder_name_has_is_read_from_the_metadata(tmp_path, monkeypatch):
    for name, text in (
        ("Acme_Plugins.egg-info", "Name: acme-plugins\nVersion: 1.2\n\nText"),
        ("bare.egg-info", ""),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "PKG-INFO").write_text(text)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert installed_versions() == {"acme-plugins": "1.2", "bare": ""}


def test_the_first_of_a_name_wins_however_it_is_spelled(tmp_path, monkeypatch):
    for place, name in (("a", "Acme_Plugins-1.0"), ("b", "acme.plugins-2.0"), ("c", "acme_plugins-3.0")):
        (tmp_path / place / f"{name}.dist-info").mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [str(tmp_path / place) for place in "abc"])
    assert installed_versions() == {"acme-plugins": "1.0"}
