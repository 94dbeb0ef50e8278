"""The same code generated into two folders is one plan; what is not clear is refused."""

import numpy as np
import pytest

from brainsmith.errors import FrameworkUnavailableError, RtlSourceError
from brainsmith.rtl.library.sources import find_library
from brainsmith.rtl.simulation.simulation_plan import DATA_FOLDER, plan_simulation
from tests.rtl import finn_layers


def test_the_folder_of_generated_code_is_not_part_of_a_plan(tmp_path, library):
    plans = [
        finn_layers.thresholding(tmp_path / folder, np.random.default_rng(1)).plan(library)
        for folder in ("a", "b")
    ]
    assert plans[0] == plans[1]
    assert plans[0].digest() == plans[1].digest()
    assert plans[0].memories
    wrapper = next(source for source in plans[0].sources if source.name == "Thresholding_rtl_0.v")
    assert f'"{DATA_FOLDER}/' in wrapper.text


def test_every_part_changes_the_digest(tmp_path, library):
    make = lambda **changes: plan_simulation(  # noqa: E731
        "fifo", ["fifo/hdl/fifo.sv"], library, generated=tmp_path, **{"parameters": {"DEPTH": 4}, **changes}
    )
    plans = [make(), make(parameters={"DEPTH": 5}), make(defines=["A"]), make(trace=True)]
    (tmp_path / "weights.dat").write_text("00\n")
    plans.append(make())
    (tmp_path / "weights.dat").write_text("01\n")
    plans.append(make())
    assert len({plan.digest() for plan in plans}) == len(plans)
    assert make() == make()


def test_packages_come_first(library):
    plan = plan_simulation("mvu_vvu_axi", ["mvu/mvu.sv", "mvu/mvu_pkg.sv", "mvu/mvu.sv"], library)
    assert [source.name for source in plan.sources] == ["mvu_pkg.sv", "mvu.sv"]


def test_two_different_files_of_one_name_are_refused(library):
    with pytest.raises(RtlSourceError) as caught:
        plan_simulation("x", ["skid/skid.sv", "stream_tap/hdl/skid.sv", "fifo/hdl/fifo_gauge.sv",
                              "fifo_virtual/hdl/fifo_gauge.sv"], library)  # fmt: skip
    assert str(caught.value) == (
        "fifo_virtual/hdl/fifo_gauge.sv: a different file of the same name, fifo_gauge.sv, is part of the design of 'x'\n"
        "  rename one of them"
    )


def test_a_file_that_is_not_there_is_named(library, tmp_path):
    with pytest.raises(RtlSourceError, match=r"nothing.sv: cannot be read: .*\n  generate the code again$"):
        plan_simulation("x", [tmp_path / "nothing.sv"], library)


def test_without_finn_there_is_no_library(monkeypatch):
    monkeypatch.setattr("brainsmith.rtl.library.sources.package_folders", lambda name: [])
    with pytest.raises(
        FrameworkUnavailableError, match=r"^FINN's RTL library \(finn-rtllib\) is not installed"
    ):
        find_library()


def test_finding_the_library_imports_no_finn():
    import subprocess
    import sys

    program = f"import sys; sys.path[:] = {sys.path!r}\n"
    program += "from brainsmith.rtl.library.sources import find_library; find_library()\n"
    program += "print([name for name in sys.modules if name.split('.')[0] in ('finn', 'qonnx', 'numpy')])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
