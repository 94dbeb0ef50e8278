"""Escaping by construction: what is parsed back is what was put in."""

import json
import xml.etree.ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from brainsmith.markup import Markup, clean, embed_json, tag


@given(st.text(st.characters()))
def test_text_and_attribute_come_back_as_they_were(words):
    element = ET.fromstring(tag("a", words, title=words))
    lines = clean(words).replace("\r\n", "\n").replace("\r", "\n")
    assert (element.text or "") == lines
    # XML reads a line break or tab in an attribute as a space
    assert element.get("title") == lines.replace("\n", " ").replace("\t", " ")


TEXTS = st.text().map(clean)


@given(
    st.recursive(
        TEXTS | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner)
    )
)
def test_embedded_data_comes_back(value):
    text = embed_json(value, "x")
    body = text.removeprefix('<script type="application/json" id="x">').removesuffix("</script>")
    assert not set(body) & set("<>&\u2028\u2029")
    assert json.loads(body) == value


def test_children_and_attributes():
    inner = tag("b", "x & y")
    assert inner == "<b>x &amp; y</b>"
    made = tag(
        "p", inner, [1, None, "<"], class_="one", aria_label='"', hidden=True, title=None, tabindex=0, rx=1.50
    )
    assert (
        made == '<p class="one" aria-label="&quot;" hidden="" tabindex="0" rx="1.5"><b>x &amp; y</b>1&lt;</p>'
    )
    assert tag("meta", charset="utf-8") == '<meta charset="utf-8">'
    assert isinstance(made, Markup)
