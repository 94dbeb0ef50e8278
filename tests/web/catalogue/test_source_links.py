"""Where sources are."""

import pytest

from brainsmith.errors import UsageError
from brainsmith.web.catalogue.source_links import SourceLinks

from .made import entries_of, record


def address(*stated):
    one = record("X", origin="/a b/brainsmith/x y.py:7", reference="brainsmith.x y:X")
    return SourceLinks(stated, {"brainsmith", "acme-plugins"}).address(entries_of(one)[0])


def test_a_source_is_a_file_of_this_machine_unless_it_is_published():
    assert address() == "file:///a%20b/brainsmith/x%20y.py"
    assert address("brainsmith=none") == ""
    assert address("acme_plugins=https://acme.example/{path}").startswith("file:")
    url = "brainsmith=https://code.example/b/{version}/{path}?plain=1#L{line}"
    assert address(url) == "https://code.example/b/0.1.0/brainsmith/x%20y.py?plain=1#L7"


def test_a_plugin_without_a_file_has_no_link():
    links = SourceLinks(["brainsmith=https://code.example/{path}"], {"brainsmith"})
    assert links.address(entries_of(record("X", origin="acme 1.0, entry point 'x'"))[0]) == ""


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ("finn", "--source must be FRAMEWORK=URL or FRAMEWORK=none, not 'finn'"),
        ("=x", "--source must be FRAMEWORK=URL or FRAMEWORK=none, not '=x'"),
        (
            "brainsmit=none",
            "--source: no plugin has the framework 'brainsmit'. Did you mean 'brainsmith'?\n"
            "  the frameworks are acme-plugins, brainsmith",
        ),
        (
            "brainsmith=javascript:alert(1)",
            "--source: a URL must begin with https:// or http://, not 'javascript:alert(1)'",
        ),
        (
            "brainsmith=https://x.example/{file}",
            "--source: {file} in 'https://x.example/{file}' is unknown; known are {path}, {line}, {version}",
        ),
    ],
)
def test_what_is_no_source_is_refused(stated, message):
    with pytest.raises(UsageError) as caught:
        address(stated)
    assert str(caught.value) == message
