import pytest

from brainsmith.build.workspace import checkpoint_name


@pytest.mark.parametrize(
    ("step", "file"),
    [
        ("cleanup", "checkpoints/03_cleanup.onnx"),
        ("finn:step_streamline", "checkpoints/03_finn_step_streamline.onnx"),
        ("lambda at a b.py:7", "checkpoints/03_lambda_at_a_b.py_7.onnx"),
        ("../../etc", "checkpoints/03_.._.._etc.onnx"),
    ],
)
def test_checkpoints_have_names_that_every_file_system_takes(step, file):
    assert checkpoint_name(3, step) == file
