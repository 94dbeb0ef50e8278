import copy
import dataclasses
import pickle
from pathlib import Path

import pytest

from brainsmith.build.config import (
    RecordingView,
    StepConfig,
    current,
    describe,
    finn_config,
    reads_of,
    writes_of,
)
from brainsmith.errors import BuildError


def test_the_view_notes_reads_also_those_of_methods():
    config = StepConfig(output_dir="/out", synth_clk_period_ns=5.0, fpga_part="xc7z020", target_fps=1000)
    view = RecordingView(config)
    assert reads_of(view) == {}
    assert view._resolve_cycles_per_frame() == 200000
    assert view._resolve_fpga_part() == "xc7z020"
    assert reads_of(view) == {"synth_clk_period_ns": "5.0", "target_fps": "1000", "fpga_part": "'xc7z020'"}


def test_the_view_passes_for_the_config():
    view = RecordingView(StepConfig(fpga_part="p"))
    assert isinstance(view, StepConfig)
    assert "fpga_part" in [field.name for field in dataclasses.fields(view)]


@pytest.mark.parametrize(
    "read",
    [
        copy.copy,
        copy.deepcopy,
        vars,
        repr,
        lambda view: pickle.loads(pickle.dumps(view)),
        dataclasses.asdict,
        dataclasses.astuple,
        dataclasses.replace,
    ],
    ids=["copy", "deepcopy", "vars", "repr", "pickle", "asdict", "astuple", "replace"],
)
def test_who_copies_the_config_or_asks_for_all_of_it_reads_all_of_it(read):
    config = StepConfig(fpga_part="p")
    view = RecordingView(config)
    found = read(view)
    plain = read in (vars, repr, dataclasses.asdict, dataclasses.astuple)
    assert found == (read(config) if plain else config)
    assert reads_of(view) == {name: repr(value) for name, value in vars(config).items()}
    assert writes_of(view) == ()


def test_what_a_copy_replaces_is_not_read():
    view = RecordingView(StepConfig(fpga_part="p"))
    changed = dataclasses.replace(view, fpga_part="q")
    assert (type(changed), changed.fpga_part) == (StepConfig, "q")
    assert reads_of(view).keys() == vars(changed).keys() - {"fpga_part"}
    assert writes_of(view) == ()


def test_what_is_absent_is_noted_too():
    view = RecordingView(StepConfig())
    assert getattr(view, "folding_config_file", None) is None
    assert reads_of(view) == {"folding_config_file": "absent"}
    assert current(StepConfig(), "folding_config_file") == "absent"


def test_writes_are_noted_and_reach_the_config():
    config = StepConfig()
    view = RecordingView(config)
    view.target_fps = 7
    assert writes_of(view) == ("target_fps",)
    assert config.target_fps == 7


def test_what_is_changed_in_place_is_a_write_and_was_read_as_it_was_found():
    config = StepConfig()
    config.notes, config.table = ["first"], {}
    view = RecordingView(config)
    view.notes.append("second")
    assert view.notes == ["first", "second"]
    assert view.table == {}
    assert reads_of(view) == {"notes": "['first']", "table": "{}"}
    assert writes_of(view) == ("notes",)


def test_a_step_that_needs_the_device_says_what_to_add():
    with pytest.raises(
        BuildError, match=r"^the blueprint names no device: add `part:` under `hw_compiler: target:`$"
    ):
        StepConfig()._resolve_fpga_part()


def test_describe_differs_when_a_files_content_does(tmp_path):
    file = tmp_path / "folding.json"
    file.write_text("1")
    first = describe(file)
    file.write_text("2")
    assert describe(file) != first


def test_describe_of_a_file_does_not_depend_on_its_place(tmp_path):
    (tmp_path / "other").mkdir()
    files = [tmp_path / "x.npy", tmp_path / "other" / "y.npy"]
    for file in files:
        file.write_bytes(b"golden")
    assert describe(files[0]) == describe(files[1])
    assert describe(files[0]).startswith("a file of content ")
    assert str(tmp_path) not in describe({"files": files})
    assert describe(tmp_path / "none") == repr(tmp_path / "none") != describe(tmp_path)


@pytest.mark.slow
def test_golden_inputs_have_finns_own_name():
    pytest.importorskip("finn", reason="needs FINN: pip install finn-plus")
    for given in (None, Path("/golden/x.npy")):
        made = finn_config(StepConfig(output_dir="/out", verify_input_npy=given))
        assert made.verify_input_npy == given


def test_describe_does_not_depend_on_the_order_of_a_dict():
    assert (
        describe({"b": [1, (2,)], "a": None})
        == describe({"a": None, "b": [1, (2,)]})
        == "{'a': None, 'b': [1, [2]]}"
    )
