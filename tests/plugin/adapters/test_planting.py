"""What is planted in FINN's sources is found: nothing in the adapters knows FINN's names."""

# ruff: noqa: E501  (the texts are easier to read on one line)

import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

needs_finn = pytest.mark.skipif(find_spec("finn") is None, reason="needs FINN: pip install finn-plus")

TRANSFORM = """
from qonnx.transformation.base import Transformation as Base


class PlantedTransform(Base):
    '''Do nothing.'''

    def __init__(self, depth: int = 3):
        super().__init__()
        self.depth = depth

    def apply(self, model):
        return model, False
"""

KERNEL = """
from finn.custom_op.fpgadataflow.hwcustomop import HWCustomOp


class {name}(HWCustomOp):
    def get_nodeattr_types(self):
        return {{}}
"""


def write(folder, path, text):
    file = folder / "finn" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def append(folder, path, text):
    file = folder / "finn" / path
    before = file.read_text()
    file.write_text(before + text)
    return before.count("\n")


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """A copy of FINN's Python sources with new plugins in it; and the line at which each was appended to a file."""
    folder = tmp_path_factory.mktemp("copy")
    original = Path(next(iter(find_spec("finn").submodule_search_locations)))
    shutil.copytree(
        original,
        folder / "finn",
        ignore=lambda where, names: [
            n for n in names if (Path(where) / n).is_file() and not n.endswith(".py")
        ],
    )
    write(folder, "transformation/planted.py", TRANSFORM)
    lines = {
        "transform": append(
            folder,
            "transformation/streamline/absorb.py",
            TRANSFORM.replace("PlantedTransform", "AppendedTransform"),
        )
    }
    ops = "custom_op/fpgadataflow"
    write(folder, f"{ops}/planted_kernel.py", KERNEL.format(name="PlantedKernel"))
    append(
        folder,
        f"{ops}/__init__.py",
        '\nfrom finn.custom_op.fpgadataflow.planted_kernel import PlantedKernel\n\ncustom_op["PlantedKernel"] = PlantedKernel\n',
    )
    write(folder, f"{ops}/loose_kernel.py", KERNEL.format(name="LooseKernel"))
    decorated = KERNEL.format(name="DecoratedKernel").replace(
        "\n\nclass",
        "\nfrom finn.custom_op.fpgadataflow import register_custom_op\n\n@register_custom_op\nclass",
    )
    write(folder, f"{ops}/decorated_kernel.py", decorated)
    for kind, base in (("hls", "HLSBackend"), ("rtl", "RTLBackend")):
        text = (
            f"from finn.custom_op.fpgadataflow.{kind}backend import {base}\n"
            "from finn.custom_op.fpgadataflow.planted_kernel import PlantedKernel\n\n\n"
            f"class PlantedKernel_{kind}(PlantedKernel, {base}):\n    def generate_params(self, model, path):\n        pass\n"
        )
        write(folder, f"{ops}/{kind}/planted_kernel_{kind}.py", text)
    append(
        folder,
        f"{ops}/hls/__init__.py",
        '\nfrom finn.custom_op.fpgadataflow.hls.planted_kernel_hls import PlantedKernel_hls\n\ncustom_op["PlantedKernel_hls"] = PlantedKernel_hls\n',
    )
    write(
        folder,
        "builder/planted_steps.py",
        "def step_first(model, cfg):\n    return model\n\n\ndef step_planted(model: object, cfg: dict[str, int] = None, depth=(1, 2)) -> object:\n    return model\n",
    )
    lines["step"] = append(
        folder,
        "builder/build_dataflow_steps.py",
        "\n\ndef step_appended(\n    model: ModelWrapper,\n    cfg: DataflowBuildConfig,  # (it)\n):\n    return model\n",
    )
    return folder, lines


@pytest.fixture
def finn(unimported_finn, copied, monkeypatch, manager):
    monkeypatch.syspath_prepend(str(copied[0]))
    return manager.discover_plugins(modes=["full"])


def record(records, key):
    found = [info for info in records if info.framework == "finn" and info.key == key]
    assert len(found) == 1, (key, found)
    return found[0]


@needs_finn
@pytest.mark.slow
def test_all_of_the_copy_is_found(finn, copied):
    assert {Path(info.file).is_relative_to(copied[0]) for info in finn if info.framework == "finn"} == {True}
    assert sum(info.framework == "finn" for info in finn) > 330


@needs_finn
@pytest.mark.parametrize(
    ("key", "place", "kernel", "backend_type"),
    [
        ("transform:PlantedTransform", "transformation/planted.py:5", None, None),
        ("transform:AppendedTransform", "transformation/streamline/absorb.py:{transform}", None, None),
        ("kernel:PlantedKernel", "custom_op/fpgadataflow/planted_kernel.py:5", None, None),
        ("kernel:LooseKernel", "custom_op/fpgadataflow/loose_kernel.py:5", None, None),
        ("kernel:DecoratedKernel", "custom_op/fpgadataflow/decorated_kernel.py:7", None, None),
        (
            "backend:PlantedKernel_hls",
            "custom_op/fpgadataflow/hls/planted_kernel_hls.py:5",
            "PlantedKernel",
            "hls",
        ),
        (
            "backend:PlantedKernel_rtl",
            "custom_op/fpgadataflow/rtl/planted_kernel_rtl.py:5",
            "PlantedKernel",
            "rtl",
        ),
        ("step:step_planted", "builder/planted_steps.py:5", None, None),
        ("step:step_first", "builder/planted_steps.py:1", None, None),
        ("step:step_appended", "builder/build_dataflow_steps.py:{step}", None, None),
    ],
)
def test_each_planted_plugin_is_found_where_it_is(finn, copied, key, place, kernel, backend_type):
    folder, lines = copied
    info = record(finn, key)
    expected = place.format(transform=lines["transform"] + 5, step=lines["step"] + 3)
    assert info.origin == f"{folder}/finn/{expected}"
    assert (info.kernel, info.backend_type) == (kernel, backend_type)


@needs_finn
def test_the_planted_kernel_has_both_backends(finn):
    from brainsmith.plugins import kernels

    assert sorted(kernels.backends("finn:PlantedKernel").names()) == [
        "PlantedKernel_hls",
        "PlantedKernel_rtl",
    ]


@needs_finn
def test_the_planted_transform_shows_its_parameters(finn):
    info = record(finn, "transform:PlantedTransform")
    assert [str(parameter) for parameter in info.parameters] == ["depth: int = 3"]
    assert info.docstring == "Do nothing."


UPSTREAM = {
    "__init__.py": "",
    "transformation/__init__.py": "",
    "transformation/streamline.py": """
import qonnx.transformation.base as base
from abc import abstractmethod


class Streamline(base.Transformation):
    def apply(self, model):
        return model, False


class Shared(base.Transformation):
    @abstractmethod
    def decide(self): ...

    def apply(self, model):
        return model, False


class Concrete(Shared):
    def decide(self):
        return 1


class NotOne:
    pass
""",
    "custom_op/__init__.py": "",
    "custom_op/fpgadataflow/hwcustomop.py": """
from qonnx.custom_op.base import CustomOp
from abc import abstractmethod


class HWCustomOp(CustomOp):
    @abstractmethod
    def get_cycles(self): ...
""",
    "custom_op/fpgadataflow/hlsbackend.py": "from abc import ABC\n\n\nclass HLSBackend(ABC):\n    pass\n",
    "custom_op/fpgadataflow/rtlbackend.py": "from abc import ABC\n\n\nclass RTLBackend(ABC):\n    pass\n",
    "custom_op/fpgadataflow/thresholding.py": "from finn.custom_op.fpgadataflow.hwcustomop import HWCustomOp\n\n\nclass Sieve(HWCustomOp):\n    def get_cycles(self): return 1\n",
    "custom_op/fpgadataflow/__init__.py": """
from finn.custom_op.fpgadataflow.thresholding import Sieve

custom_op = dict()

# make sure new HLSCustomOp subclasses are imported here
custom_op["Sieve"] = Sieve
""",
    "custom_op/fpgadataflow/hls/__init__.py": """
from finn.custom_op.fpgadataflow.hls.sieve_hls import Sieve_hls

custom_op = {
    "Sieve_hls": Sieve_hls,
}
""",
    "custom_op/fpgadataflow/hls/sieve_hls.py": """
from finn.custom_op.fpgadataflow.hlsbackend import HLSBackend
from finn.custom_op.fpgadataflow.thresholding import Sieve


class Sieve_hls(Sieve, HLSBackend):
    def defines(self): pass
""",
    "custom_op/fpgadataflow/rtl/__init__.py": "custom_op = dict()\n",
    "builder/build_dataflow_steps.py": '''
"""Steps of the builder.

def step_fake(model, cfg):
"""
from finn.transformation.streamline import Streamline


def verify_step(model, cfg, step_name: str, need_parent: bool, rtlsim_pre_hook=None):
    pass


def step_streamline(model: "ModelWrapper", cfg: "DataflowBuildConfig"):
    return model


def step_tidy_up(model, cfg):
    return model


def _private(model, cfg):
    return model


#: map step name strings to step functions
build_dataflow_step_lookup = {
    "step_streamline": step_streamline,
    "step_tidy_up": step_tidy_up,
}
''',
}


@pytest.fixture
def upstream(unimported_finn, site, manager):
    """A small FINN as upstream writes it: no `finn.util.settings`, tables as literals; installed from its repository."""
    for path, text in UPSTREAM.items():
        write(site.folder, path, text)
    return manager.discover_plugins(modes=["full"])


def test_an_upstream_finn_is_read(upstream):
    found = {info.key: (info.kernel, info.backend_type) for info in upstream if info.framework == "finn"}
    assert found == {
        "transform:Streamline": (None, None),
        "transform:Concrete": (None, None),
        "kernel:Sieve": (None, None),
        "backend:Sieve_hls": ("Sieve", "hls"),
        "step:step_streamline": (None, None),
        "step:step_tidy_up": (None, None),
    }
    assert {info.version for info in upstream if info.framework == "finn"} == {""}


@pytest.mark.slow
def test_an_upstream_finn_is_loaded(upstream, manager):
    """In a fresh process the objects are the real ones."""
    from tests.plugin.installed import run_python

    code = """
    import json
    from brainsmith.plugins import steps, transforms as tfm
    from brainsmith.plugins import kernels as kn
    import finn.builder.build_dataflow_steps as real
    print(json.dumps([steps.finn.step_tidy_up is real.step_tidy_up, tfm.finn.Streamline is real.Streamline, kn.finn.Sieve.__module__]))
    """
    folder = upstream[-1].file.partition("/finn/")[0]
    assert run_python(code, path=[folder]) == [True, True, "finn.custom_op.fpgadataflow.thresholding"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("def step_a(model, cfg): return model\n", ["step_a"]),
        ("import x\ndef step_a(model, cfg, n=f(1, 2), m=(1, 2)): return model\n", ["step_a"]),
        (
            "import x\ndef step_a(model: Dict[str, int], cfg: Optional[Tuple[int, str]]) -> Any: return model\n",
            ["step_a"],
        ),
        ("import x\ndef step_a(\n    model,  # a, (model)\n    cfg,\n): return model\n", ["step_a"]),
        ("import x\n@deco\ndef step_a(model, cfg): return model\n", ["step_a"]),
        ("import x\r\ndef step_a(model, cfg):\r\n    return model\r\n", ["step_a"]),
        ("import x\ndef step_a(model, cfg, *, deep=True): return model\n", ["step_a"]),
        ("import x\ndef step_a(model, cfg, needed): return model\n", []),
        ("import x\ndef step_a(model, cfg, *, needed): return model\n", []),
        ("import x\ndef step_a(model): return model\n", []),
        ("import x\ndef step_a(cfg, model): return model\n", []),
        ("import x\nclass A:\n    def step_a(model, cfg): return model\n", []),
        ("import x\ndef step_a(model, cfg=None): return model\n", ["step_a"]),
    ],
)
def test_a_step_is_a_function_that_can_be_called_with_model_and_cfg(
    unimported_finn, site, manager, text, names
):
    write(site.folder, "__init__.py", "")
    write(site.folder, "builder/steps.py", text)
    records = manager.discover_plugins(modes=["full"])
    assert [info.name for info in records if info.type == "step" and info.framework == "finn"] == names


def test_an_unreadable_file_leaves_the_rest_of_its_framework(unimported_finn, site, manager):
    """Pitfall 2: one bad file must not drop a framework."""
    for path, text in UPSTREAM.items():
        write(site.folder, path, text)
    (site / "finn" / "folder.py").mkdir()
    (site / "finn" / "gone.py").symlink_to(site / "nowhere.py")
    write(site.folder, "broken.py", "import x\nclass A(B(:\n  pass\n")
    records = manager.discover_plugins(modes=["full"])
    assert sum(info.framework == "finn" for info in records) == 6
    assert {summary["name"]: summary["status"] for summary in manager.adapters}["finn"] == "available"
