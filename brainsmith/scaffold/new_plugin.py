"""A new plugin of a project: its file, what belongs to it, and a test that passes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from brainsmith.errors import ProjectError
from brainsmith.plugin.manager import get_plugin_manager
from brainsmith.scaffold.new_files import filled, write_new
from brainsmith.scaffold.plugin_names import a_kind, camel_case, check_plugin_name, file_name

if TYPE_CHECKING:
    from brainsmith.plugin.info import PluginInfo

PLUGINS, TESTS = "plugins", "tests"


class NewPlugin(NamedTuple):
    """What was written.

    Attributes:
        paths: The files.
        test: The one that tests the plugin.
        note: What else is to be known; empty if nothing.
    """

    paths: list[Path]
    test: Path
    note: str = ""


def new_plugin(kind: str, name: str, project: Path) -> NewPlugin:
    """Write a plugin and its test into a project.

    For a backend whose kernel, of the same name without RTL or HLS, the project does not have, that is written too.

    Args:
        kind: `transform`, `kernel`, `backend`, `step`, `op` or `target`.
        name: Of the plugin.
        project: The folder with `.brainsmith` in it.

    Raises:
        UsageError: The name is not of the kind's style, or unusable.
        ProjectError: A plugin has the name, or a file exists. Then nothing is written.
        OutputError: A file cannot be written.
    """
    check_plugin_name(kind, name)
    _check_free(kind, name)
    stem = file_name(kind, name)
    test = f"{TESTS}/test_{stem}.py"
    if kind == "backend":
        texts, note = _backend_files(name, stem, test, project)
    else:
        values = {"Name": camel_case(name), "name": name}
        texts = {
            f"{PLUGINS}/{stem}.py": filled(f"{kind}.py", values),
            test: filled(f"{kind}_test.py", values),
        }
        note = ""
    return NewPlugin(write_new(project, texts), project / test, note)


def _backend_files(name: str, stem: str, test: str, project: Path) -> tuple[dict[str, str], str]:
    """Return the files of a backend, and what is to be known of its kernel."""
    kernel, language = name[:-3], name[-3:].lower()
    own, core = _own_kernel(kernel, project), f"{file_name('kernel', kernel)}_core"
    values = {"Name": name, "Kernel": kernel, "core": core, "CORE": core.upper()}
    values["kernel"] = Path(own.file).stem if own else file_name("kernel", kernel)
    values["KernelClass"] = own.reference.partition(":")[2] if own else f"{kernel}Kernel"
    suffix = "sv" if language == "rtl" else "hpp"
    texts = {
        f"{PLUGINS}/{stem}.py": filled(f"backend_{language}.py", values),
        f"{PLUGINS}/{core}.{suffix}": filled(f"core.{suffix}", values),
        test: filled(f"backend_{language}_test.py", values),
    }
    text = filled("kernel.py", {"Name": kernel})
    if own is None:
        _check_free("kernel", kernel, f"the kernel of {name!r} would be {kernel!r}, and")
        return {f"{PLUGINS}/{values['kernel']}.py": text, **texts}, ""
    if Path(own.file).read_bytes() == text.encode():
        return texts, ""
    return texts, (
        f"{own.origin}: this kernel is not as `brainsmith new kernel {kernel}` writes it. The test fails until the backend"
        f" and {core}.{suffix} compute what the kernel does"
    )


def _own_kernel(name: str, project: Path) -> PluginInfo | None:
    """Return the kernel of a name that lies in the project's folder of plugins, as backends there can import it."""
    registry = get_plugin_manager().all_records()[0]
    folder = (project / PLUGINS).resolve()
    for info in registry.records("kernel"):
        if info.name == name and info.file and Path(info.file).resolve().parent == folder:
            return info
    return None


def _check_free(kind: str, name: str, why: str = "") -> None:
    """Refuse a name that a plugin has, wherever it comes from: it would be hidden, or clash."""
    registry = get_plugin_manager().all_records()[0]
    rivals: list[PluginInfo] = [info for info in registry.records(kind) if info.name == name]
    if rivals:
        found = "".join(f"\n  {info.qualified} at {info.origin}" for info in rivals)
        what = f"there is {a_kind(kind)} {name!r} already"
        raise ProjectError(f"{why} {what}; choose another name:{found}".lstrip())
