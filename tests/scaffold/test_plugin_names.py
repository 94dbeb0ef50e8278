"""Names of plugins: which are taken, which are refused with a better one, and what files are called."""

import keyword
import re

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from brainsmith.errors import UsageError
from brainsmith.plugin.info import PLUGIN_TYPES
from brainsmith.scaffold import KINDS
from brainsmith.scaffold.plugin_names import STYLES, camel_case, check_plugin_name, file_name


def refusal(kind, name):
    with pytest.raises(UsageError) as caught:
        check_plugin_name(kind, name)
    return str(caught.value)


def test_there_is_a_style_for_each_kind_and_all_but_bundles_can_be_begun():
    assert list(STYLES) == list(KINDS)
    assert {*KINDS} == {*PLUGIN_TYPES, "package"} - {"bundle"}


@pytest.mark.parametrize(
    ("kind", "name", "file"),
    [
        ("transform", "ExpandNorms", "expand_norms"),
        ("kernel", "MVAU2", "mvau2"),
        ("backend", "BinaryMVAURTL", "binary_mvau_rtl"),
        ("backend", "SoftmaxHLS", "softmax_hls"),
        ("step", "tidy_graph", "tidy_graph"),
        ("op", "soft_sign", "soft_sign"),
        ("target", "zcu104", "zcu104"),
        ("package", "acme-plugins.v2", "acme_plugins_v2"),
    ],
)
def test_good_names_and_their_files(kind, name, file):
    check_plugin_name(kind, name)
    assert file_name(kind, name) == file


@pytest.mark.parametrize(
    ("kind", "name", "better"),
    [
        ("transform", "expand_norms", "ExpandNorms"),
        ("transform", "expandNorms", "ExpandNorms"),
        ("kernel", "Stream_Max", "StreamMax"),
        ("backend", "Softmax", "SoftmaxRTL"),
        ("backend", "softmax_hls", "SoftmaxHLS"),
        ("backend", "SoftmaxRtl", "SoftmaxRTL"),
        ("step", "TidyGraph", "tidy_graph"),
        ("step", "tidy-graph", "tidy_graph"),
        ("op", "SoftSign", "soft_sign"),
        ("target", "ZCU104", "zcu104"),
        ("package", "AcmePlugins", "acme-plugins"),
        ("package", "acme plugins", "acme-plugins"),
    ],
)
def test_another_style_is_refused_with_a_name_that_would_do(kind, name, better):
    article = "an" if kind == "op" else "a"
    assert refusal(kind, name) == (
        f"the name of {article} {kind} is {STYLES[kind][1]}, not {name!r}. Did you mean {better!r}?"
    )
    check_plugin_name(kind, better)


@pytest.mark.parametrize("name", ["", "1st", "Ünï", "../x", "RTL", "a b;c", "X\n", "-", "Ab\0"])
def test_what_cannot_be_a_backend_is_refused_whatever_it_is(name):
    assert refusal("backend", name).startswith(
        "the name of a backend is in CamelCase and ends in RTL or HLS, such as RectifyRTL, not "
    )


def test_names_that_others_have():
    assert (
        refusal("op", "class")
        == "an op cannot be called 'class': 'class' is a keyword of Python; choose another name"
    )
    assert refusal("kernel", "Import") == (
        "a kernel cannot be called 'Import': 'import' is a keyword of Python; choose another name"
    )
    assert refusal("package", "json") == (
        "a package cannot be called 'json': there is a package 'json' already; choose another name"
    )
    assert refusal("package", "numpy") == (
        "a package cannot be called 'numpy': the distribution 'numpy' is installed; choose another name"
    )
    assert refusal("package", "yaml") == (
        f"a package cannot be called 'yaml': there is a module 'yaml' already: {yaml.__file__}; choose another name"
    )
    for kind, name in (("kernel", "Stream"), ("backend", "StreamRTL")):
        assert refusal(kind, name) == (
            f"a {kind} cannot be called {name!r}: StreamKernel is the class that kernels are made of; choose another name"
        )


@given(
    kind=st.sampled_from(KINDS),
    name=st.text(max_size=12) | st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,12}", fullmatch=True),
)
def test_a_name_that_passes_makes_a_module_and_a_class(kind, name):
    try:
        check_plugin_name(kind, name)
    except UsageError:
        return
    stem = file_name(kind, name)
    assert re.fullmatch(r"[a-z][a-z0-9_]*", stem) and not keyword.iskeyword(stem)
    assert camel_case(name).isidentifier()
