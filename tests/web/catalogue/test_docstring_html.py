"""Docstrings as elements."""

from hypothesis import given
from hypothesis import strategies as st

from brainsmith.web.catalogue.docstring_html import documentation
from tests.web.pages import Page


def test_paragraphs_flow_sections_have_headings_and_what_is_laid_out_stays():
    text = (
        "Surround `x` with\nzeros.\n\nArgs:\n    node: The node.\n    value (int): Around it,\n        any ``integer``.\n\n"
        "- one\n- two\n\nReturns:\n    The model.\n\nNotes\n-----\n    a + b\n      = c\n"
    )
    assert documentation(text) == [
        "<p>Surround <code>x</code> with zeros.</p>",
        "<h3>Args</h3>",
        '<dl class="defined"><dt><code>node</code></dt><dd>The node.</dd>'
        "<dt><code>value (int)</code></dt><dd>Around it, any <code>integer</code>.</dd></dl>",
        "<pre>- one\n- two</pre>",
        "<h3>Returns</h3>",
        "<pre>    The model.</pre>",
        "<h3>Notes</h3>",
        "<pre>    a + b\n      = c</pre>",
    ]


def test_markup_in_a_docstring_is_text():
    assert documentation("<script>alert(1)</script> & `<b>`") == [
        "<p>&lt;script&gt;alert(1)&lt;/script&gt; &amp; <code>&lt;b&gt;</code></p>"
    ]


LINES = st.sampled_from(
    ["Args:", "    x: y", "      z", "- a", "text", "", "Returns:", "-----", "\t<b>", "`", "a\x00\ud800"]
)


@given(st.lists(LINES | st.text(max_size=12)).map("\n".join))
def test_every_docstring_gives_whole_elements_and_loses_no_word(text):
    page = Page("".join(documentation(text)))
    assert page.problems == []
    letters = [char for char in text if char.isascii() and char.isalnum()]
    assert [char for char in page.text if char.isascii() and char.isalnum()] == letters
