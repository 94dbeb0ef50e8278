"""Import modules as Python does, and complete some of them before anything uses them."""

from __future__ import annotations

import builtins
import sys
from importlib.abc import Loader
from importlib.machinery import PathFinder
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

from brainsmith.forks import lock_of
from brainsmith.plugin.adapters.stand_ins import import_deferred

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from importlib.machinery import ModuleSpec

    from brainsmith.plugin.adapters.stand_ins import ImportFunction


_LOCK = lock_of()


class CompletingFinder:
    """Finds modules as Python does, and completes some of them when they are imported.

    Args:
        completions: What completes a module, by its name.
        prefix: How the names begin of modules that may import in another way; none by default.
        import_for: Returns what the import statements of such a module are to call; None for Python's own function.
    """

    def __init__(
        self,
        completions: Mapping[str, Callable[[ModuleType], None]],
        prefix: str | tuple[str, ...] = (),
        import_for: Callable[[str, ModuleSpec], ImportFunction | None] = lambda name, spec: None,
    ) -> None:
        self.completions = completions
        self.prefix = prefix
        self.import_for = import_for

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module that is to be completed; None for all others."""
        complete = self.completions.get(fullname)
        if complete is None and not fullname.startswith(self.prefix):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.loader is None:
            return None
        import_as = self.import_for(fullname, spec)
        if complete is None and import_as is None:
            return None
        spec.loader = CompletingLoader(spec.loader, complete, import_as)
        return spec

    def begin(self, package: str) -> ModuleSpec | None:
        """Find modules from now on, if a package is installed; return its spec, or None also where it has begun before."""
        if self in sys.meta_path:
            return None
        spec = find_spec(
            package
        )  # without our lock: it takes that of imports, whose holder may be here and wait for ours
        with _LOCK:
            if spec is None or self in sys.meta_path:
                return None
            sys.meta_path.insert(0, self)
        return spec

    def complete_imported(self) -> None:
        """Complete the modules that were imported already."""
        for name, complete in self.completions.items():
            if name in sys.modules:
                complete(sys.modules[name])


class CompletingLoader(Loader):
    """Executes a module with its own loader and, where needed, another `__import__` and a completing function."""

    def __init__(
        self,
        loader: Any,
        complete: Callable[[ModuleType], None] | None,
        import_as: ImportFunction | None,
    ) -> None:
        self.loader = loader
        self.complete = complete
        self.import_as = import_as

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Create the module as its own loader does."""
        spec.loader = self.loader
        module: ModuleType | None = self.loader.create_module(spec)
        spec.loader = self
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Execute the module and complete it; afterwards it names its own loader again."""
        names = dict(vars(builtins))
        if self.import_as is not None:
            names["__import__"] = self.import_as
            module.__dict__["__builtins__"] = names
        self.loader.exec_module(module)
        if self.import_as is import_deferred:
            names["__import__"] = builtins.__import__  # what its functions import is wanted at once
        module.__loader__ = self.loader
        if module.__spec__ is not None:
            module.__spec__.loader = self.loader
        if self.complete is not None:
            self.complete(module)
