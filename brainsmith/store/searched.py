"""Where Python looked for a module without finding it: a file that appears there changes what is imported."""

from __future__ import annotations

import os
import sys
from importlib.machinery import EXTENSION_SUFFIXES

from brainsmith import TYPE_CHECKING
from brainsmith.store.callers import is_of_python

if TYPE_CHECKING:
    from collections.abc import Iterator

_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def searched_in_vain(name: str) -> Iterator[str]:
    """Yield the files that would have been imported under a name, had they been there.

    Args:
        name: Of a module, which is imported by now, or which there is not. What Python itself has is found in any case.
    """
    if name.partition(".")[0] in sys.stdlib_module_names:
        return
    head, _, last = name.rpartition(".")
    module = sys.modules.get(name)
    found = str(getattr(module, "__file__", None) or "")
    if module is not None and not found:
        return  # a namespace, or made while the program runs
    for place in sys.path if not head else getattr(sys.modules.get(head), "__path__", ()):
        base = os.path.join(os.path.abspath(place or "."), last)
        for path in (os.path.join(base, "__init__.py"), f"{base}{EXTENSION_SUFFIXES[0]}", f"{base}.py"):
            if found and os.path.abspath(found) == path:
                return
            if not (found and _counts_by_version(path)) and not os.path.lexists(path):
                yield path


def _counts_by_version(path: str) -> bool:
    """Tell whether a file lies where versions, or the sources as a whole, stand for what is there: BrainSmith's own too."""
    return is_of_python(path) or path.startswith(_OWN)


def is_own_import(name: str) -> bool:
    """Tell whether a module is, or would be, found in a folder that is none of Python's or of installed packages."""
    if name.partition(".")[0] in sys.stdlib_module_names:
        return False
    module = sys.modules.get(name)
    file = str(getattr(module, "__file__", None) or "")
    return module is None or bool(file and not is_of_python(file))
