"""A bill of materials of a build, in CycloneDX's form: what its provenance names, with licences and package URLs.

It is made of `provenance.json` alone, and of the metadata of the packages where these are installed in the version that is
stated, so that two copies of one build have the same bill.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from brainsmith.build.provenance import BUILDER, read_statement, statement_of
from brainsmith.errors import ToolError
from brainsmith.plugin.distributions import distribution_key
from brainsmith.plugin.licence import licence_of_distribution

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from cyclonedx.model.component import Component, ComponentType

_TYPES = {
    "model with its weights": "MACHINE_LEARNING_MODEL",
    "model file": "MACHINE_LEARNING_MODEL",
    "package": "LIBRARY",
    "plugin": "LIBRARY",
    "tool": "APPLICATION",
    "interpreter": "APPLICATION",
}
"""The types of components, by what the provenance says that they were used as; all else is a file."""


def sbom(folder: Path, file: Path | None = None) -> str:
    """Return the bill of materials of a build as JSON (CycloneDX 1.6).

    Args:
        folder: The build's folder, or one in it.
        file: The provenance, where it does not lie there.

    Raises:
        BuildError: There is no such folder or provenance, or it is damaged.
        ToolError: The library that writes it is not installed.
    """
    try:
        from cyclonedx.model.bom import Bom
        from cyclonedx.model.component import Component, ComponentType
        from cyclonedx.output.json import JsonV1Dot6
    except ImportError as error:
        raise ToolError(
            f"a bill of materials needs cyclonedx-python-lib: pip install 'brainsmith[sbom]' ({error})"
        ) from error
    place = statement_of(folder, file)
    statement = read_statement(place)
    described = statement["predicate"]
    version = str(described["runDetails"]["builder"].get("version", {}).get("brainsmith", ""))
    files = [_file(each, ComponentType.FILE) for each in statement["subject"]]
    whole = Component(
        name="accelerator", type=ComponentType.FIRMWARE, bom_ref="accelerator", components=files
    )
    bom = Bom(serial_number=uuid.uuid5(uuid.NAMESPACE_URL, place.read_text("utf-8")))
    # A bill says of one build the same at any time; the form allows none, the library's types do not.
    bom.metadata.timestamp = None  # type: ignore[assignment]
    bom.metadata.component = whole
    maker = Component(name="brainsmith", version=version, type=ComponentType.APPLICATION, bom_ref=BUILDER)
    bom.metadata.tools.components.add(maker)
    parts = list(_materials(described["buildDefinition"]["resolvedDependencies"]))
    bom.components.update(parts)
    bom.register_dependency(whole, parts)
    return JsonV1Dot6(bom).output_as_string(indent=1) + "\n"


def _materials(described: list[Mapping[str, Any]]) -> Iterator[Component]:
    from cyclonedx.model.component import ComponentType

    for number, each in enumerate(described):
        used = str(each.get("annotations", {}).get("used as", ""))
        kind = ComponentType[_TYPES.get(used, "FILE")]
        yield _package(each) if used == "package" else _file(each, kind, f"{number}:{each['name']}")


def _file(each: Mapping[str, Any], kind: ComponentType, reference: str = "") -> Component:
    """Return a component that has a digest, and what it was used as."""
    from cyclonedx.model import HashAlgorithm, HashType, Property
    from cyclonedx.model.component import Component

    about = each.get("annotations", {})
    found = each.get("digest", {}).get("sha256")
    return Component(
        name=str(each["name"]),
        version=about.get("version") or None,
        type=kind,
        bom_ref=reference or f"file:{each['name']}",
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=found)] if found else [],
        properties=[Property(name="brainsmith:used-as", value=str(about["used as"]))]
        if "used as" in about
        else [],
    )


def _package(each: Mapping[str, Any]) -> Component:
    """Return a component for an installed package: the digest that is stated is that of its RECORD, not of an archive."""
    from cyclonedx.contrib.license.factories import LicenseFactory
    from cyclonedx.model import Property
    from cyclonedx.model.component import Component, ComponentType
    from packageurl import PackageURL

    name, version = str(each["name"]), str(each["annotations"].get("version", ""))
    record = each.get("digest", {}).get("sha256")
    licence = licence_of_distribution(distribution_key(name), version=version)
    return Component(
        name=name,
        version=version,
        type=ComponentType.LIBRARY,
        bom_ref=f"package:{name}",
        purl=PackageURL("pypi", None, name.lower(), version),
        licenses=[LicenseFactory().make_from_string(licence)] if licence else [],
        properties=[Property(name="brainsmith:record-sha256", value=record)] if record else [],
    )
