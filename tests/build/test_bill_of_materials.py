"""Bills of materials: valid CycloneDX of what a provenance names, the same for the same build."""

import json

import pytest

from brainsmith.build.bill_of_materials import sbom
from brainsmith.errors import BuildError, ToolError
from tests.build.test_provenance import FILES, made

cyclonedx = pytest.importorskip("cyclonedx", reason="needs cyclonedx-python-lib")


def test_a_bill_is_valid_and_names_all_that_the_provenance_does(tmp_path):
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    folder = made(tmp_path / "out", FILES)
    text = sbom(folder)
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    bill = json.loads(text)
    assert bill["metadata"]["component"]["name"] == "accelerator"
    assert "timestamp" not in bill["metadata"]
    made_files = bill["metadata"]["component"]["components"]
    assert {one["name"] for one in made_files} == set(FILES)
    statement = json.loads((folder / "provenance.json").read_text())
    stated = {one["name"]: one["digest"]["sha256"] for one in statement["subject"]}
    assert {one["name"]: one["hashes"][0]["content"] for one in made_files} == stated
    parts = {one["name"]: one for one in bill["components"]}
    used = statement["predicate"]["buildDefinition"]["resolvedDependencies"]
    assert set(parts) == {one["name"] for one in used}
    assert parts["numpy"]["purl"].startswith("pkg:pypi/numpy@") and parts["numpy"]["licenses"]
    assert (parts["model"]["type"], parts["python"]["type"]) == ("machine-learning-model", "application")
    (whole,) = [one for one in bill["dependencies"] if one["ref"] == "accelerator"]
    assert set(whole["dependsOn"]) == {one["bom-ref"] for one in bill["components"]}
    assert sbom(folder / "accelerator") == text == sbom(made(tmp_path / "again", FILES))


def test_a_folder_without_provenance(tmp_path):
    with pytest.raises(BuildError, match=r"there is no .*provenance.json"):
        sbom(tmp_path)
    with pytest.raises(BuildError, match=r"none is no folder"):
        sbom(tmp_path / "none")


def test_without_the_library_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "cyclonedx.model.bom", None)
    message = r"a bill of materials needs cyclonedx-python-lib: pip install 'brainsmith\[sbom\]'"
    with pytest.raises(ToolError, match=message):
        sbom(made(tmp_path / "out", FILES))
