"""What the blueprint tests share: files in a folder of their own, and what is wrong with them."""

from __future__ import annotations

import pytest

from brainsmith.blueprint.loader import load_blueprint
from brainsmith.blueprint.outputs import RTL_STEPS
from brainsmith.blueprint.resolve import resolve_blueprint
from brainsmith.errors import BlueprintError
from brainsmith.plugin.plugin_registry import Registry
from brainsmith.plugin.python_source import PythonSource
from brainsmith.plugin.scan import scan
from brainsmith.plugin.snapshot import Snapshot
from brainsmith.plugin.source_files import SourceFile


class Files:
    """Writes blueprints to a folder and reads them back."""

    def __init__(self, folder):
        self.folder = folder

    def write(self, text, name="x.yaml"):
        path = self.folder / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    def load(self, text):
        return load_blueprint(self.write(text))

    def body(self, text):
        """Load what stands under hw_compiler, given without indentation."""
        lines = "".join(f"  {line}\n" for line in text.splitlines())
        return self.load("hw_compiler:\n" + lines)

    def errors(self, text):
        """Give the error's lines with the file's name cut off; the text's line 1 is the file's."""
        with pytest.raises(BlueprintError) as caught:
            self.load(text)
        return str(caught.value).replace(str(self.folder) + "/", "").splitlines()

    def body_errors(self, text):
        """Like `errors` for what stands under hw_compiler: the text's line 1 is the file's line 2."""
        lines = "".join(f"  {line}\n" for line in text.splitlines())
        return self.errors("hw_compiler:\n" + lines)

    def resolve(self, text, registry):
        return resolve_blueprint(self.body(text), registry)

    def resolve_errors(self, text, registry):
        """Give the lines of the error of names, with the file's name cut off."""
        with pytest.raises(BlueprintError) as caught:
            self.resolve(text, registry)
        return str(caught.value).replace(str(self.folder) + "/", "").splitlines()


@pytest.fixture
def files(tmp_path):
    return Files(tmp_path)


#: A framework's plugins as source: they are scanned, as discovery does it, and never imported.
SOURCES = {
    "brainsmith": """
from brainsmith.plugin.core import backend, kernel, step, transform

@transform(stage="topology")
class ExpandNorms(Base): ...

@transform(stage="topology")
class MergeChains(Base):
    def __init__(self, depth=3, *, strict: bool = True): ...

@transform(stage="needy")
class Quantize(Base):
    def __init__(self, bits, signed=True): ...

@transform(name="Open", stage="other")
class Open(Base):
    def __init__(self, **settings): ...

@kernel
class MatMul(Base): ...

@kernel
class LayerNorm(Base): ...

@kernel
class Softmax(Base): ...

@kernel
class Bare(Base): ...

@backend(kernel="MatMul", backend_type="hls")
class MatMulHLS(Base): ...

@backend(kernel="MatMul", backend_type="rtl", priority=40)
class MatMulRTL(Base): ...

@backend(kernel="MatMul", backend_type="rtl", priority=75)
class MatMulFastRTL(Base): ...

@backend(kernel="Softmax", backend_type="hls")
class SoftmaxHLS(Base): ...

@backend(kernel="LayerNorm", backend_type="hls")
class LayerNormHLS(Base): ...

@step
def cleanup(model, cfg): ...

@step
def fold(model, cfg, target=None): ...

@step(name="ExpandNorms")
def expand_norms(model, cfg): ...
"""
    + "".join(
        f"\n@step\ndef {name}(model, cfg): ...\n"
        for name in (
            "integer",
            "qonnx_to_finn",
            "streamline",
            "hardware_inference",
            "specialize",
            "estimate",
            *RTL_STEPS,
        )
    )
    + """
GROUPS = {
    "norms": ["ExpandNorms", "finn:Streamline"],
    "nested": ["norms", "~Gone", "MergeChains"],
    "broken": ["ExpandNorms", "Missing", "AlsoMissing"],
    "loop": ["ring"],
    "ring": ["loop"],
    "dense": ["MatMul", "finn:MVAU"],
}
""",
    "finn": """
from brainsmith.plugin.core import backend, kernel, step, transform

@transform(stage="any")
class Streamline(Base): ...

@transform(stage="any")
class MovePastFork(Base): ...

@transform(stage="any")
class Cased(Base): ...

@transform(stage="any")
class CASED(Base): ...

@kernel
class MVAU(Base): ...

@kernel
class LayerNorm(Base): ...

@backend(name="LayerNorm_hls", kernel="LayerNorm", backend_type="hls")
class LayerNorm_hls(Base): ...

@backend(name="MVAU_hls", kernel="MVAU", backend_type="hls")
class MVAU_hls(Base): ...

@backend(name="MVAU_rtl", kernel="MVAU", backend_type="rtl")
class MVAU_rtl(Base): ...

@step
def step_tidy_up(model, cfg): ...
""",
    "qonnx": """
from brainsmith.plugin.core import transform

@transform(stage="any")
class MovePastFork(Base): ...
""",
    "acme-norms": """
from brainsmith.plugin.core import backend, kernel, step

@step
def rtl_synthesise(model, cfg, tool="vivado"): ...

@step
def look(model, cfg): ...

@kernel
class FancyMatMul(Base): ...

@backend(name="AcmeMatMul", kernel="MatMul", backend_type="hls", priority=60)
class AcmeMatMul(Base): ...

@backend(name="FancyMatMul_hls", kernel="FancyMatMul", backend_type="hls")
class FancyMatMul_hls(Base): ...
""",
}


@pytest.fixture(scope="session")
def registry(tmp_path_factory):
    """A real registry, filled by scanning `SOURCES`."""
    folder = tmp_path_factory.mktemp("frameworks")
    records, groups = [], {}
    for framework, text in SOURCES.items():
        module = framework.replace("-", "_") + "_sample"
        path = folder / f"{module}.py"
        path.write_text(text)
        found = scan(PythonSource(SourceFile(str(path), module, False), text.encode()), framework)
        assert not found.problems, found.problems
        records += found.records
        groups.update(found.groups)
    registry = Registry()
    registry.replace_discovered(Snapshot(records, groups, [], [], [], [], (), 0.0))
    return registry
