from onnx import helper
from qonnx.core.modelwrapper import ModelWrapper

from brainsmith.build.relocate import foreign_paths, relocate_files, relocated
from tests.build import graphs


def with_paths(*paths):
    model = graphs.quant_mlp()
    for at, path in enumerate(paths):
        model.graph.node[0].attribute.append(helper.make_attribute(f"path{at}", path))
    return model.model.SerializeToString(deterministic=True)


def test_a_models_strings_are_rewritten_whatever_their_length():
    data = with_paths("/old/a", ["/old/b", "c"])
    moved = ModelWrapper(relocated("m.onnx", data, "/old", "/a/much/longer/name")).graph.node[0]
    values = [(list(a.strings) or a.s) for a in moved.attribute if a.name.startswith("path")]
    assert values == [b"/a/much/longer/name/a", [b"/a/much/longer/name/b", b"c"]]
    assert relocated("m.onnx", relocated("m.onnx", data, "/old", "/x"), "/x", "/old") == data


def test_texts_are_rewritten_and_other_files_are_not(tmp_path):
    (tmp_path / "a.json").write_text('"/old/a"')
    (tmp_path / "b.bin").write_bytes(b"\xff/old/a")
    (tmp_path / "c.onnx").write_bytes(with_paths("/old/a"))
    relocate_files(tmp_path, "/old", "/new")
    assert (tmp_path / "a.json").read_text() == '"/new/a"'
    assert (tmp_path / "b.bin").read_bytes() == b"\xff/old/a"
    assert b"/new/a" in (tmp_path / "c.onnx").read_bytes()


def test_links_point_into_the_new_folder_and_other_links_stay(tmp_path):
    (tmp_path / "inside").symlink_to("/old/a")
    (tmp_path / "relative").symlink_to("inside")
    relocate_files(tmp_path, "/old", "/new")
    assert str((tmp_path / "inside").readlink()) == "/new/a"
    assert str((tmp_path / "relative").readlink()) == "inside"


def test_foreign_paths_exist_and_are_elsewhere(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "else").mkdir()
    data = with_paths(f"{tmp_path}/out", f"{tmp_path}/else", "/no/such/path", "relative")
    assert foreign_paths(data, f"{tmp_path}/out") == {f"{tmp_path}/else"}
