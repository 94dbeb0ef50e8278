"""Addresses of pages: readable where that is possible, and never two alike."""

from hypothesis import given
from hypothesis import strategies as st

from brainsmith.web.catalogue.addresses import page_addresses


def test_a_name_is_its_address():
    keys = [("transform", "finn", "Streamline", "a:b"), ("step", "acme-plugins", "x.y", "a:c")]
    assert page_addresses(keys) == ["transform/finn.Streamline.html", "step/acme-plugins.x.y.html"]


def test_what_no_file_name_should_hold_is_replaced_and_names_that_differ_in_case_alone_are_told_apart():
    keys = [
        ("op", "acme", "../../etc/passwd", "a:a"),
        ("op", "acme", "Abs", "a:b"),
        ("op", "acme", "abs", "a:c"),
        ("op", "acme", "abs", "a:d"),
        ("op", "acme", "x" * 300, "a:e"),
    ]
    assert page_addresses(keys) == [
        "op/acme..._.._etc_passwd~c2a8b318.html",
        "op/acme.Abs~457aade4.html",
        "op/acme.abs~fc08d75f.html",
        "op/acme.abs~ea3c49ca.html",
        f"op/acme.{'x' * 95}~b5346fe1.html",
    ]


TEXTS = st.text(max_size=130) | st.sampled_from(["a", "A", "a/b", "a_b", ".", "..", "a-b", "\ud800"])


@given(st.lists(st.tuples(st.sampled_from(["op", "step"]), TEXTS, TEXTS, TEXTS), unique=True))
def test_every_plugin_has_an_address_of_its_own_that_every_file_system_takes(keys):
    addresses = page_addresses(keys)
    assert len({address.lower() for address in addresses}) == len(keys)
    for (plugin_type, *_), address in zip(keys, addresses, strict=True):
        folder, slash, name = address.partition("/")
        assert (folder, slash) == (plugin_type, "/")
        assert "/" not in name and not name.startswith(".") and name.endswith(".html")
        assert name.isascii() and len(name) < 130
