"""Import a module as Python does, and complete it before anything uses it."""

from __future__ import annotations

import builtins
from importlib.abc import Loader
from types import ModuleType
from typing import TYPE_CHECKING, Any

from brainsmith.plugin.adapters.stand_ins import import_deferred

if TYPE_CHECKING:
    from collections.abc import Callable
    from importlib.machinery import ModuleSpec

    from brainsmith.plugin.adapters.stand_ins import ImportFunction


class CompletingLoader(Loader):
    """Executes a module with its own loader, with its own way to import, and a last touch if needed."""

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
