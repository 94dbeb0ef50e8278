"""A package that is read again: the same plan, what was changed since, and what is refused."""

import json
import shutil

import pytest

from brainsmith.errors import BuildError
from brainsmith.rtl.package.reading import read_package
from brainsmith.rtl.stitching.top_module import plan_design
from tests.rtl.package.packed import ORDER


def test_its_simulation_is_the_designs_own(folder, small):
    for place in (folder, folder.parent):
        package = read_package(place)
        assert package.folder == folder
        assert package.design == small.design
        assert package.orders == {"s_axis_0": ORDER}
        assert package.changed == ()
        for trace in (False, True):
            assert package.plan(trace).digest() == plan_design(small.design, trace=trace).digest()
        assert package.watched_plan().digest() == plan_design(small.design, probes=True).digest()


def test_changes_are_named_and_are_part_of_the_plan(folder, small):
    memory = folder / "memory" / "MVAU_rtl_0_memblock.dat"
    memory.write_text("0\n")
    (folder / "hdl" / "more.sv").write_text("module more; endmodule\n")
    (folder / "golden" / "m_axis_0.npy").unlink()
    (folder / "README.md").write_text("mine")
    with (folder / "filelist.f").open("a") as file:
        file.write("hdl/more.sv\n")
    package = read_package(folder)
    assert package.changed == (
        "filelist.f is not as it was packed",
        "golden/m_axis_0.npy is missing",
        "memory/MVAU_rtl_0_memblock.dat is not as it was packed",
        "hdl/more.sv was not packed",
    )
    plan = package.plan()
    assert package.watched_plan() == plan
    assert plan.sources[-1].text == "module more; endmodule\n"
    assert [one.text for one in plan.memories] == ["0\n"]
    with pytest.raises(BuildError) as caught:
        package.golden("m_axis_0")
    assert str(caught.value) == (
        f"{folder}/golden/m_axis_0.npy is missing: it holds the golden vectors of stream m_axis_0\n"
        "  build the accelerator again"
    )


def test_a_source_that_is_gone_is_said(folder):
    (folder / "hdl" / "fifo.sv").unlink()
    with pytest.raises(BuildError) as caught:
        read_package(folder)
    assert str(caught.value) == (
        f"{folder} holds no whole design: {folder}/hdl/fifo.sv: No such file or directory\n  build it again"
    )


def test_a_folder_without_a_package_is_refused(tmp_path):
    with pytest.raises(BuildError) as caught:
        read_package(tmp_path / "out")
    assert str(caught.value) == (
        f"{tmp_path}/out holds no accelerator: there is no accelerator/manifest.json and no manifest.json in it\n"
        "  build one: brainsmith build MODEL --blueprint FILE --output DIR --produce simulated"
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "was not written by a build, or is damaged (JSONDecodeError: "),
        ("[]", "was not written by a build, or is damaged (TypeError: "),
        ('{"format": 1, "files": {}}', "was not written by a build, or is damaged (KeyError: 'orders')"),
        ('{"format": 2}', "has format 2, and this version reads 1: build it again"),
    ],
)
def test_a_damaged_manifest_is_refused(folder, content, message):
    (folder / "manifest.json").write_text(content)
    with pytest.raises(BuildError) as caught:
        read_package(folder)
    assert str(caught.value).startswith(f"{folder}/manifest.json {message}")


def test_a_damaged_order_is_refused(folder):
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["orders"] = {"s_axis_0": 7}
    path.write_text(json.dumps(manifest))
    with pytest.raises(
        BuildError, match=r"manifest.json was not written by a build, or is damaged \(TypeError: "
    ):
        read_package(folder)


@pytest.mark.parametrize("size", [0, 40, 200])
def test_golden_vectors_that_are_cut_are_said(folder, size):
    path = folder / "golden" / "s_axis_0.npy"
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(BuildError) as caught:
        read_package(folder).golden("s_axis_0")
    first, last = str(caught.value).splitlines()
    assert first.startswith(f"{path} cannot be read: ")
    assert last == "  build the accelerator again"


def test_golden_vectors_that_are_none_are_said(folder):
    path = folder / "golden" / "s_axis_0.npy"
    path.write_text("none")
    with pytest.raises(BuildError, match=rf"^{path} cannot be read: "):
        read_package(folder).golden("s_axis_0")


def test_a_package_may_be_moved(folder, small, tmp_path):
    shutil.move(folder, tmp_path / "elsewhere")
    assert read_package(tmp_path / "elsewhere").plan().digest() == plan_design(small.design).digest()
