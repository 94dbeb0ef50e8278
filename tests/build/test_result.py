from brainsmith.build.result import Progress


def test_a_line_of_progress():
    assert str(Progress("check", 0, 12, "input model: 8 samples")) == "input model: 8 samples"
    assert str(Progress("start", 3, 12, "cleanup")) == "[ 3/12] cleanup"
    assert str(Progress("start", 3, 7, "cleanup")) == "[3/7] cleanup"
