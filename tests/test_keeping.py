"""What tests keep between their runs: by the content of the sources that made it."""

import os
import shutil

from brainsmith.store.folders import KeptFolders
from brainsmith.store.quota import QUOTAS
from tests.keeping import MAKERS, RECORDERS, ROOT, UNUSED, kept_folders


def package_at(folder):
    """Return a package with a source for each part."""
    for maker in (MAKERS | RECORDERS).values():
        (folder / maker).mkdir(parents=True)
        (folder / maker / "make.py").write_text("1")
    return folder


def test_an_edited_source_has_a_folder_of_its_own_part_anew(tmp_path):
    package, kept = package_at(tmp_path / "package"), tmp_path / "kept"
    before = kept_folders(kept, package)
    assert kept_folders(kept, package) == before
    (package / MAKERS["hls"] / "make.py").write_text("2")
    after = kept_folders(kept, package)
    assert {part for part in MAKERS if after[part] != before[part]} == {"hls"}
    (package / MAKERS["hls"] / "make.py").write_text("1")
    assert kept_folders(kept, package) == before
    assert all(path.is_dir() for path in before.values())


def test_a_folder_that_no_run_used_for_long_is_removed_and_a_current_one_stays(tmp_path):
    package, kept = package_at(tmp_path / "package"), tmp_path / "kept"
    before = kept_folders(kept, package)
    for path in before.values():
        os.utime(path.parent, (0, 0))
    shutil.copy(package / MAKERS["rtl"] / "make.py", package / MAKERS["rtl"] / "more.py")
    after = kept_folders(kept, package)
    assert sorted(kept.iterdir()) == sorted(path.parent for path in after.values())
    assert not before["rtl"].exists()
    os.utime(after["rtl"].parent, (UNUSED, UNUSED))
    assert kept_folders(kept, package) == after


def test_a_part_holds_as_much_as_the_users_cache_does(tmp_path):
    """Else a run drops what it made, and the next one makes it again."""
    kept = kept_folders(tmp_path / "kept", package_at(tmp_path / "package"))
    assert {part: KeptFolders(kept[part]).limit for part in MAKERS} == {part: QUOTAS[part] for part in MAKERS}


def test_git_ci_and_make_know_the_folder():
    """It is in no commit; CI starts without it, and `make clean` removes it."""
    assert "/.kept/" in (ROOT / ".gitignore").read_text().splitlines()
    assert "rm -rf .venv .kept out" in (ROOT / ".ci" / "run").read_text()
    assert "rm -rf $(VENV) .kept out" in (ROOT / "Makefile").read_text()
