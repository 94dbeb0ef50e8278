"""Sources of texts, as the tests of their readings need them."""

from brainsmith.plugin.python_source import PythonSource
from brainsmith.plugin.source_files import SourceFile


def source(text, module="pack.mod", path="mod.py", is_package=False):
    data = text if isinstance(text, bytes) else text.encode()
    return PythonSource(SourceFile(path, module, is_package), data)
