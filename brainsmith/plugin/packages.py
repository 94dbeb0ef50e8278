"""Check packages that must fit each other, and frameworks that must be importable: really, in child processes."""

from __future__ import annotations

import re

from brainsmith import TYPE_CHECKING
from brainsmith.errors import ToolError
from brainsmith.plugin.distributions import (
    InfoFolder,
    distribution_key,
    environment,
    installed,
    metadata,
)
from brainsmith.plugin.finn_install import INSTALL_FINN
from brainsmith.plugin.precedence import ADAPTED
from brainsmith.store.values import Kept

if TYPE_CHECKING:
    from collections.abc import Iterable

_RUN_ONE_NODE = """
import numpy, onnx, onnxruntime
from onnx import TensorProto, helper
float_1 = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [1])
graph = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "one_node", [float_1("x")], [float_1("y")])
session = onnxruntime.InferenceSession(helper.make_model(graph).SerializeToString(), providers=["CPUExecutionProvider"])
(y,) = session.run(None, {"x": numpy.array([2.0], dtype=numpy.float32)})
print("works" if y[0] == -2.0 else f"-(2.0) is {y[0]}")
"""

_IMPORT = {
    "qonnx": "import qonnx.core.modelwrapper, qonnx.core.onnx_exec, qonnx.custom_op.registry\n",
    "finn": (
        "from brainsmith.plugin.adapters.finn_runtime import prepare_finn\nprepare_finn()\n"
        "import finn.custom_op.fpgadataflow, finn.transformation.fpgadataflow.specialize_layers\n"
    ),
}
"""What shows that a framework can be used: its operators and its base."""

_SECONDS = 180.0


def check_pairs(cache_dir: str) -> list[dict[str, str]]:
    """Check the pairs of packages that must fit.

    Returns:
        For each: `name`, `status` (`works`, `fails`, `absent`, or `differs` for a pin that is not met, which is
        information only), `versions`, `detail` (what to do).
    """
    found = installed()
    pairs = [_onnx_with_onnxruntime(found, cache_dir), _numpy_with_protobuf(found)]
    if "finn-plus" in found:
        pairs.extend(_pins(found["finn-plus"], found))
    return pairs


def _versions(found: dict[str, InfoFolder], *names: str) -> str:
    return ", ".join(f"{name} {found[name].version if name in found else 'absent'}" for name in names)


def _onnx_with_onnxruntime(found: dict[str, InfoFolder], cache_dir: str) -> dict[str, str]:
    name, versions = "onnx with onnxruntime", _versions(found, "onnx", "onnxruntime")
    install = "pip install onnx==1.21.0 onnxruntime==1.25.1"
    if "onnx" not in found or "onnxruntime" not in found:
        return _pair(name, "absent", versions, f"QONNX models cannot be executed; {install}")
    failure = _works(cache_dir, name, versions, _RUN_ONE_NODE)
    if failure:
        return _pair(name, "fails", versions, f"{failure}; a pair that works: {install}")
    return _pair(name, "works", versions)


def _pair(name: str, status: str, versions: str, detail: str = "") -> dict[str, str]:
    return {"name": name, "status": status, "versions": versions, "detail": detail}


def _works(cache_dir: str, what: str, versions: str, program: str) -> str:
    """Run a program in a fresh interpreter; return what is wrong. That it works is kept by what is installed."""
    from brainsmith.plugin.processes import run_python  # only where it is not known to work

    kept = Kept(cache_dir, "health", what)
    stamp = (versions, repr(environment(ADAPTED)))
    if kept.load(stamp) == "works":
        return ""
    try:
        printed = run_python(program, timeout=_SECONDS, what=what).strip().splitlines()
    except ToolError as error:
        return str(error)
    if not printed or printed[-1] != "works":
        return f"{what}: {printed[-1] if printed else 'nothing was printed'}"
    kept.save(stamp, "works", {"of": what})
    return ""


def framework_failure(name: str, version: str, cache_dir: str) -> str:
    """Import what a framework stands on, in a child process; return what is wrong, or nothing."""
    program = _IMPORT.get(name)
    return _works(cache_dir, f"importing {name}", version, f"{program}print('works')") if program else ""


def _numpy_with_protobuf(found: dict[str, InfoFolder]) -> dict[str, str]:
    name, versions = "numpy and protobuf with onnx", _versions(found, "numpy", "protobuf", "onnx")
    if "onnx" not in found:
        return _pair(name, "absent", versions)
    unmet = [
        f"onnx {found['onnx'].version} needs {name}{wanted}"
        for name, wanted, met in _requirements(found["onnx"], found)
        if name in ("numpy", "protobuf") and not met
    ]
    return _pair(name, "differs" if unmet else "works", versions, "; ".join(unmet))


def _pins(owner: InfoFolder, found: dict[str, InfoFolder]) -> Iterable[dict[str, str]]:
    """Compare what a distribution declares to need with what is installed: information, since not all is used."""
    declaring = distribution_key(owner.name)
    for name, wanted, met in _requirements(owner, found):
        if not met:
            detail = (
                f"{declaring} {owner.version} declares {name}{wanted}; "
                "for information only: builds here do not need it"
            )
            yield _pair(f"{declaring} with {name}", "differs", _versions(found, name), detail)


def _requirements(owner: InfoFolder, found: dict[str, InfoFolder]) -> Iterable[tuple[str, str, bool]]:
    """Yield what a distribution needs here: name, versions, and whether that is met."""
    for field, text in metadata(owner):
        try:
            parsed = _requirement(text) if field == "Requires-Dist" else None
        except ValueError:
            continue
        if parsed is not None:
            name, wanted = parsed
            yield name, wanted, _is_met(wanted, found[name].version) if name in found else False


def unmet_requirements(requirements: Iterable[str], folders: list[str] | None = None) -> list[str]:
    """Return a sentence for each PEP 508 requirement that is not met here; one whose marker does not hold counts as met.

    Args:
        requirements: Texts such as `pynq>=3.0; platform_machine == "aarch64"`.
        folders: Where distributions are; this Python's by default.
    """
    unmet = []
    found: dict[str, InfoFolder] | None = None
    for text in requirements:
        try:
            parsed = _requirement(text)
        except ValueError:
            unmet.append(f"requires {requirement_problem(text)}")
            continue
        if parsed is None:
            continue
        if found is None:
            found = installed() if folders is None else installed(folders)
        name, wanted = parsed
        if name not in found:
            if not any(fork in found for fork in _FORKS.get(name, ())):
                command = install_command(name, wanted)
                unmet.append(f"requires {name}{wanted}, which is not installed: {command}")
        elif wanted and not _is_met(wanted, found[name].version):
            version = found[name].version
            unmet.append(f"requires {name}{wanted}, and {version} is installed: pip install '{name}{wanted}'")
    return unmet


def requirement_problem(text: str) -> str:
    """Return what is wrong with a text that should be a PEP 508 requirement; nothing if it is one."""
    try:
        _requirement(text)
    except ValueError:
        from brainsmith.plugin.plugin_versions import comparison_hint  # only where one is wrong

        return f"{text!r}, which is not a PEP 508 requirement{comparison_hint(text)}"
    return ""


_FORKS = {"finn-plus": ("finn",)}
"""Distributions that give the same packages as another one, in versions of their own."""


def install_command(name: str, wanted: str = "") -> str:
    """Return the command that installs a distribution: for FINN the one that leaves out 5 GB that no build imports."""
    return INSTALL_FINN if name == "finn-plus" else f"pip install '{name}{wanted}'"


_BARE_NAME = re.compile(r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?", re.ASCII)
"""A requirement that needs no package to be read."""


def _requirement(text: str) -> tuple[str, str] | None:
    """Return name and versions of a PEP 508 requirement; None for one that does not hold here.

    Raises:
        ValueError: It is not a requirement.
    """
    if _BARE_NAME.fullmatch(text):
        return distribution_key(text), ""
    from packaging.requirements import Requirement  # most requirements are bare names

    requirement = Requirement(text)
    if requirement.marker is not None and not requirement.marker.evaluate({"extra": ""}):
        return None
    return distribution_key(requirement.name), str(requirement.specifier)


def _is_met(wanted: str, version: str) -> bool:
    from packaging.specifiers import SpecifierSet  # most requirements are bare names

    return SpecifierSet(wanted).contains(version, prereleases=True)
