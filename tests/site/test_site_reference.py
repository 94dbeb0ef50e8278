"""The pages of the reference: one place for each public name."""

import re

import pytest

from tests.test_docs import ROOT
from tests.test_stability import LISTED


@pytest.fixture(scope="module")
def reference(tool):
    return tool("site_reference")


def test_the_names_are_those_that_are_called_public(reference):
    names = reference.public_names(ROOT)
    listed = [f"{module}.{name}" for module, own, _ in LISTED for name in own]
    assert [name.path for name in names if name.module != "brainsmith.errors"] == listed
    assert {
        "brainsmith.errors.Problem",
        "brainsmith.errors.exit_code",
        "brainsmith.errors.BrainsmithError",
    } <= {name.path for name in names}


def test_a_name_is_described_where_it_is_defined(reference):
    definitions = {name.path: name.definition for name in reference.public_names(ROOT)}
    assert definitions["brainsmith.plugins.Bundle"] == "brainsmith.bundles.bundle.Bundle"  # a class
    assert definitions["brainsmith.transform"] == "brainsmith.plugin.core.transform"  # a function
    assert definitions["brainsmith.plugins.kernels"] == "brainsmith.plugins.kernels"  # a value
    assert definitions["brainsmith.ops.functional"] == "brainsmith.autodiff.functional"  # a module
    assert definitions["brainsmith.execution.program.functions.arithmetic"] == (
        "brainsmith.execution.program.functions.arithmetic"  # a module that nobody has imported
    )


def test_each_name_has_one_description_and_else_a_link_to_it(reference):
    pages = reference.reference_pages(ROOT)
    text = "\n".join(pages.values())
    for name in reference.public_names(ROOT):
        assert len(re.findall(rf"^::: {re.escape(name.definition)}$", text, re.MULTILINE)) == 1, name
    assert (
        "## brainsmith.plugins.transform { #brainsmith.plugins.transform }\n\n"
        in pages["reference/brainsmith.plugins.md"]
    )
    same = "The same as [`brainsmith.transform`](brainsmith.md#brainsmith.transform).\n"
    assert same in pages["reference/brainsmith.plugins.md"]
    assert "[`Tensor`](brainsmith.ops.md#brainsmith.ops.Tensor)" in pages["reference/index.md"]
    begin = "# brainsmith.ops\n\nOps: what users import, and the folder of the ops that ship.\n\n<a id="
    assert pages["reference/brainsmith.ops.md"].startswith(begin)
