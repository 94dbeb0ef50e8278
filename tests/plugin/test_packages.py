"""Packages that must fit: what is really run, what is kept, and what is only read from metadata."""

import os
import textwrap

import pytest

from brainsmith.plugin.distributions import distribution_key
from brainsmith.plugin.packages import check_pairs, framework_failure, unmet_requirements
from tests.plugin.installed import run_python


@pytest.mark.slow
def test_the_installed_pair_works_and_that_is_kept(tmp_path):
    caches = str(tmp_path / "caches")
    pairs = {pair["name"]: pair for pair in check_pairs(caches)}
    assert (pairs["onnx with onnxruntime"]["status"], pairs["onnx with onnxruntime"]["detail"]) == (
        "works",
        "",
    )
    assert pairs["numpy and protobuf with onnx"]["status"] == "works"
    (kept,) = os.listdir(os.path.join(caches, "health"))
    before = os.stat(os.path.join(caches, "health", kept)).st_ino
    assert check_pairs(caches) == list(pairs.values())
    assert os.stat(os.path.join(caches, "health", kept)).st_ino == before


def test_a_pair_that_does_not_fit_is_reported_with_its_error(site, tmp_path):
    """An onnxruntime that reads older models only, as a fresh installation of QONNX alone gets."""
    site.install(
        "onnxruntime",
        "1.31.0",
        onnxruntime____init__=textwrap.dedent("""\
            class InferenceSession:
                def __init__(self, model, providers):
                    raise RuntimeError("Unsupported model IR version: 14, max supported IR version: 13")
            """),
    )
    pairs = run_python(
        "import json\nfrom brainsmith.plugin.packages import check_pairs\n"
        f"print(json.dumps(check_pairs({str(tmp_path)!r})))",
        path=[site.folder],
    )
    pair = pairs[0]
    assert (pair["name"], pair["status"]) == ("onnx with onnxruntime", "fails")
    assert pair["versions"].endswith("onnxruntime 1.31.0")
    assert pair["detail"] == (
        "onnx with onnxruntime failed with exit code 1: RuntimeError: Unsupported model IR version: 14,"
        " max supported IR version: 13; a pair that works: pip install onnx==1.21.0 onnxruntime==1.25.1"
    )
    assert not (tmp_path / "health").exists()  # what fails is tried again


def test_pins_that_are_not_met_are_information(site, tmp_path):
    info = site.install("acme-nets", "2.0", acme____init__="")
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: acme-nets\nVersion: 2.0\n"
        "Requires-Dist: numpy (>=99,<100)\n"
        "Requires-Dist: onnx\n"
        "Requires-Dist: no-such-package==1.0\n"
        "Requires-Dist: pytest ; extra == 'test'\n"
        "Requires-Dist: numpy<1; python_version < '3'\n"
        "Requires-Dist: ???\n"
        "\nRequires-Dist: body-of-the-description\n"
    )
    found = run_python(
        "import json\nfrom brainsmith.plugin import packages\nfound = packages.installed()\n"
        "print(json.dumps(list(packages._pins(found['acme-nets'], found))))",
        path=[site.folder],
    )
    assert [(pin["name"], pin["status"]) for pin in found] == [
        ("acme-nets with numpy", "differs"),
        ("acme-nets with no-such-package", "differs"),
    ]
    assert found[0]["detail"] == (
        "acme-nets 2.0 declares numpy<100,>=99; for information only: builds here do not need it"
    )
    assert found[1]["versions"] == "no-such-package absent"


def test_a_framework_that_cannot_be_imported_says_why(site, tmp_path):
    site.write("qonnx/__init__.py", "raise ImportError('built for another Python')\n")
    failure = run_python(
        f"import json\nfrom brainsmith.plugin.packages import framework_failure\n"
        f"print(json.dumps(framework_failure('qonnx', '1.0.0', {str(tmp_path)!r})))",
        path=[site.folder],
    )
    assert failure == "importing qonnx failed with exit code 1: ImportError: built for another Python"


def test_adapters_that_import_nothing_are_not_tried(tmp_path):
    assert framework_failure("entry_points", "", str(tmp_path / "caches")) == ""
    assert not (tmp_path / "caches").exists()


def test_packages_that_are_absent_are_said(tmp_path):
    found = run_python(
        "import json, sys\nfrom brainsmith.plugin import packages\n"
        "sys.path[:] = [path for path in sys.path if 'site-packages' not in path]\n"
        f"print(json.dumps(packages.check_pairs({str(tmp_path)!r})))",
    )
    assert [(pair["name"], pair["status"]) for pair in found] == [
        ("onnx with onnxruntime", "absent"),
        ("numpy and protobuf with onnx", "absent"),
    ]
    assert found[0]["versions"] == "onnx absent, onnxruntime absent"
    assert (
        found[0]["detail"] == "QONNX models cannot be executed; pip install onnx==1.21.0 onnxruntime==1.25.1"
    )


def test_names_compare_as_pep_503_says():
    assert (
        distribution_key("Finn_Plus")
        == distribution_key("finn-plus")
        == distribution_key("finn.plus")
        == "finn-plus"
    )


def test_requirements_that_are_not_met_are_told_with_what_to_do(site):
    site.install("acme-tools", "2.1")
    wanted = (
        "Acme_Tools>=2",
        "acme-tools[fast]<3",
        "acme-tools>=3",
        "acme-more==1.0",
        "acme-more; python_version < '3'",
        "acme more",
        "acme-more~=9",
    )
    assert unmet_requirements(wanted) == [
        "requires acme-tools>=3, and 2.1 is installed: pip install 'acme-tools>=3'",
        "requires acme-more==1.0, which is not installed: pip install 'acme-more==1.0'",
        "requires 'acme more', which is not a PEP 508 requirement",
        "requires 'acme-more~=9', which is not a PEP 508 requirement; '~=' needs two numbers or more (PEP 440): "
        "'~=9.0' is '>=9.0,<10'",
    ]
    assert unmet_requirements(()) == []
