"""Make FINN importable without Vivado and without torch.

FINN+ wants three things before its modules import: settings, the Vivado simulator, and torch. Each is given
when the module that asks for it is imported, by one finder on `sys.meta_path`; a process that needs no such
module pays nothing. Upstream FINN, which has no `finn.util.settings`, only needs its build folder.

What is put in place of a missing tool imports, and says what is missing when it is used. Two libraries that
single kernels need in one function, but import at once, are deferred: they are half of what FINN costs to import.
"""

from __future__ import annotations

import os
import tempfile
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from brainsmith.errors import FrameworkUnavailableError
from brainsmith.plugin.adapters.completing_loader import CompletingFinder
from brainsmith.plugin.adapters.framework_mends import mend_frameworks
from brainsmith.plugin.adapters.stand_ins import DEFERRED, import_deferred, import_without_torch
from brainsmith.plugin.operators import offer_operators
from brainsmith.plugin.source_files import source_or_nothing
from brainsmith.settings import cache_dir, finn_settings_file, set_default_variable
from brainsmith.store.safety import make_private, why_replaceable, why_untrusted

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from brainsmith.plugin.adapters.stand_ins import ImportFunction

_SETTINGS_MODULE = "finn.util.settings"
_SIMULATOR_MODULE = "finn.xsi"

_DOMAINS = ("finn.custom_op.fpgadataflow.hls", "finn.custom_op.fpgadataflow.rtl")
"""Plugins may implement kernels in these domains of FINN."""

KERNELS = "finn.custom_op."
"""Modules below this package must not load transformations, nor much else, until one of their kernels runs."""


def prepare_finn() -> None:
    """Let every module of the installed FINN be imported; call it before the first `import finn...`.

    Idempotent and safe with many threads. It changes no folder and no variable that the user has set; it sets
    `FINN_BUILD_DIR`, which FINN's worker processes read, where it is unset. Without FINN it does nothing.
    """
    spec = _FINDER.begin("finn")
    if spec is None:
        return
    mend_frameworks()
    if not _has_settings(spec):
        _set_build_folder(_finn_folder())
    _FINDER.complete_imported()


def _has_settings(finn: ModuleSpec) -> bool:
    """Tell whether this FINN has settings, as FINN+ has, without importing it."""
    return any(
        os.path.isfile(os.path.join(folder, "util", "settings.py"))
        for folder in finn.submodule_search_locations or ()
    )


def _set_build_folder(folder: str) -> None:
    """Set `FINN_BUILD_DIR` where it is unset, and create that folder: FINN only fills existing ones."""
    os.makedirs(set_default_variable("FINN_BUILD_DIR", folder), exist_ok=True)


def _finn_folder() -> str:
    """Make and name the folder for what FINN generates: in the user's cache, never in the current folder.

    Where the cache cannot be written it is a folder for temporary files: a cache may cost time, never a result.
    """
    below = os.path.join(tempfile.gettempdir(), f"brainsmith-finn-{os.getuid()}")
    for folder in (os.path.join(cache_dir(), "finn"), below):
        try:
            make_private(folder)
            # FINN compiles there, and loads what it compiled.
            if not why_untrusted(folder) and not any(why_replaceable(folder)):
                return folder
        except OSError:
            continue
    return tempfile.mkdtemp(prefix="brainsmith-finn-")


def _give_settings(module: ModuleType) -> None:
    """Give `finn.util.settings` its settings, from FINN's own settings file and the environment.

    FINN's own initialisation is not called: it creates `~/.finn`, and exports its four settings to the
    environment over what is there.
    """
    if getattr(module, "_SETTINGS", None) is not None:
        return
    module._SETTINGS = module.FINNSettings.init(  # type: ignore[attr-defined]
        override_settings_path=module.Path(finn_settings_file()),
        # FINN places a relative build folder, such as its default, beside this file, which need not exist.
        flow_config=module.Path(_finn_folder(), "flow.yaml"),
        auto_set_environment_vars=False,
    )
    _set_build_folder(str(module._SETTINGS.finn_build_dir))


def _defer_simulator(module: ModuleType) -> None:
    """Make the simulator's names in `finn.xsi` real attributes, so that importing them wants no Vivado."""
    for name in getattr(module, "_LAZY_NAMES", ()):
        if name not in vars(module):
            setattr(module, name, _deferred(module, name))


def _deferred(module: ModuleType, name: str) -> Callable[..., Any]:
    """Return a stand-in for one simulator function that starts FINN's own simulator at the first call."""

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            module.ensure_available()  # binds the real names in the module, over these
        except Exception as error:
            raise FrameworkUnavailableError(
                f"finn.xsi.{name} needs the simulator of Vivado: {error}\n"
                "  source Vivado's settings64.sh first; estimates and Python execution work without it"
            ) from error
        return getattr(module, name)(*args, **kwargs)

    call.__name__ = call.__qualname__ = name
    return call


_COMPLETIONS: dict[str, Callable[[ModuleType], None]] = {
    _SETTINGS_MODULE: _give_settings,
    _SIMULATOR_MODULE: _defer_simulator,
    **dict.fromkeys(_DOMAINS, offer_operators),
}


def _import_for(fullname: str, spec: ModuleSpec) -> ImportFunction | None:
    """Return what a module's import statements are to call, if not Python's own function."""
    text = b"\n" + source_or_nothing(spec.origin or "")
    if (b"\nimport torch" in text or b"\nfrom torch" in text) and find_spec("torch") is None:
        return import_without_torch
    if fullname.startswith(KERNELS) and any(b"\nfrom " + root.encode() in text for root in DEFERRED):
        return import_deferred
    return None


_FINDER = CompletingFinder(_COMPLETIONS, "finn.", _import_for)
