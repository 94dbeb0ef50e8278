import ctypes
import multiprocessing
import os
import pkgutil
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from brainsmith.store.read_recorder import Recorder
from brainsmith.store.reads import ABSENT, ALL_VARIABLES, IMPORT_PATH, WORKING_FOLDER, Reads
from brainsmith.store.uncounted import Rules

RULES = Rules()


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Stand in a folder with a file and a folder, and with two variables."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.txt").write_text("1")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.bin").write_text("1")
    monkeypatch.setenv("SCALE", "2")
    monkeypatch.delenv("NOT_SET", raising=False)
    return tmp_path


def recorded(function, rules=RULES):
    with Recorder(rules) as recorder:
        function()
    return recorder


READ_FORMS = {
    "get": lambda: os.environ.get("SCALE"),
    "[]": lambda: os.environ["SCALE"],
    "in": lambda: "SCALE" in os.environ,
    "getenv": lambda: os.getenv("SCALE"),
    "getenvb": lambda: os.getenvb(b"SCALE"),
    "environb": lambda: os.environb[b"SCALE"],
    "expandvars": lambda: os.path.expandvars("$SCALE"),
    "setdefault": lambda: os.environ.setdefault("SCALE", "3"),
}
ALL_FORMS = {
    "iteration": lambda: list(os.environ),
    "items": lambda: dict(os.environ.items()),
    "values": lambda: list(os.environ.values()),
    "copy": lambda: os.environ.copy(),
    "**": lambda: {**os.environ},
    "|": lambda: os.environ | {"A": "1"},
    "len": lambda: len(os.environ),
    "repr": lambda: repr(os.environ),
    "environb": lambda: list(os.environb),
}


@pytest.mark.parametrize("read", READ_FORMS.values(), ids=READ_FORMS)
def test_every_form_of_reading_a_variable_is_seen(read, monkeypatch):
    reads = recorded(read).reads
    assert list(reads.variables) == ["SCALE"]
    assert reads.changes() == []
    monkeypatch.setenv("SCALE", "3")
    assert reads.changes() == ["the variable SCALE changed"]
    monkeypatch.delenv("SCALE")
    assert reads.changes() == ["the variable SCALE no longer exists"]


def _made(name):
    os.makedirs(name, exist_ok=True)
    Path(name).mkdir(exist_ok=True)


def _not_made_twice(name):
    with pytest.raises(FileExistsError):
        Path(name).open("x").close()


def _added_to(name):
    with open(name, "a") as file:
        file.write("")


@pytest.mark.parametrize(
    "seem_to_make",
    [lambda: _made("folder"), lambda: _not_made_twice("folder/a.bin"), lambda: _added_to("folder/a.bin")],
    ids=["folder", "x", "a"],
)
def test_what_was_there_before_is_no_output(seem_to_make, here):
    def work():
        seem_to_make()
        Path("folder", "a.bin").read_bytes()

    recorder = recorded(work)
    assert list(recorder.reads.files) == [os.path.join("folder", "a.bin")]
    assert not recorder.reads.has_changed()
    (here / "folder" / "a.bin").write_text("2")
    assert recorder.reads.has_changed()


def test_a_file_that_is_linked_or_renamed_counts_where_it_was(here):
    def work():
        os.link("data.txt", "linked.txt")
        Path("linked.txt").read_text()
        os.rename("folder/a.bin", "b.bin")
        Path("b.bin").read_text()

    assert list(recorded(work).reads.files) == ["data.txt", os.path.join("folder", "a.bin")]


def _below_a_descriptor():
    folder = os.open("folder", os.O_RDONLY)
    try:
        os.close(os.open("a.bin", os.O_RDONLY, dir_fd=folder))
    finally:
        os.close(folder)


@pytest.mark.parametrize(
    "read", [_below_a_descriptor, lambda: list(os.fwalk("folder"))], ids=["open", "fwalk"]
)
def test_what_is_read_by_an_open_folder_is_not_known(read):
    assert recorded(read).doubt == "it opens the folder folder, and what it reads there cannot be seen"


def test_what_the_system_says_of_itself_is_no_content():
    doubt = recorded(lambda: Path("/proc/self/environ").read_bytes()).doubt
    assert doubt == "it reads /proc/self/environ, which holds the state of the machine"
    assert recorded(lambda: Path("/dev/zero").open("rb").close()).doubt == (
        "it reads /dev/zero, which is not a regular file"
    )
    assert not recorded(lambda: Path(os.devnull).read_bytes()).doubt


@pytest.mark.skipif(not os.path.isdir("/dev/shm"), reason="no such file system")
def test_a_file_in_memory_is_a_file():
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
        assert list(recorded(lambda: Path(file.name).read_bytes()).reads.files) == [file.name]


def test_a_library_of_native_code_counts(here):
    (here / "native.so").write_bytes(b"none")

    def work():
        for name in ("./native.so", "libm.so.6"):
            try:
                ctypes.CDLL(name)
            except OSError:
                continue

    assert list(recorded(work).reads.files) == ["native.so"]


def test_processes_that_nobody_tells_of_are_noticed():
    def work():
        multiprocessing.get_context("spawn").Process(target=print)

    assert recorded(work).unseen == "starts a process"


def test_modules_that_are_listed_count(here):
    (here / "folder" / "b.py").write_text("")
    assert str(here / "folder") in recorded(lambda: list(pkgutil.iter_modules(["folder"]))).reads.folders


def test_a_file_that_changes_while_it_is_open(here):
    def work():
        with open("data.txt") as file:
            (here / "data.txt").write_text("2345")
            file.read()

    def change():
        with open("data.txt") as file:
            os.truncate("data.txt", 0)
            file.read()

    assert not recorded(work).doubt  # it wrote the file itself
    assert recorded(change).doubt == "data.txt changed while it ran"


@pytest.mark.parametrize("read", ALL_FORMS.values(), ids=ALL_FORMS)
def test_whoever_reads_all_variables_depends_on_all(read, monkeypatch):
    reads = recorded(read).reads
    assert list(reads.variables) == [ALL_VARIABLES]
    monkeypatch.setenv("SHLVL", "9")
    assert reads.changes() == []
    monkeypatch.setenv("ANY", "1")
    assert reads.changes() == ["the environment changed"]


def test_a_variable_that_is_not_set_counts_and_one_that_was_set_meanwhile_does_not(monkeypatch):
    def read():
        os.environ.get("NOT_SET")
        os.environ["MINE"] = "1"
        return os.environ["MINE"]

    reads = recorded(read).reads
    assert reads.variables == {"NOT_SET": ABSENT}
    monkeypatch.setenv("NOT_SET", "")
    assert reads.changes() == ["the variable NOT_SET did not exist before"]
    del os.environ["MINE"]


def test_no_value_of_a_variable_is_kept(monkeypatch):
    monkeypatch.setenv("TOKEN", "a very secret word")
    assert "secret" not in repr(recorded(lambda: os.environ["TOKEN"]).reads.plain())


def test_the_environment_is_as_ever_afterwards():
    before = type(os.environ)
    recorded(lambda: recorded(lambda: None))
    assert type(os.environ) is type(os.environb) is before


FILE_FORMS = {
    "open": lambda: open("data.txt").close(),
    "pathlib": lambda: Path("data.txt").read_bytes(),
    "os.open": lambda: os.close(os.open("data.txt", os.O_RDONLY)),
    "r+": lambda: open("data.txt", "r+").close(),
}


@pytest.mark.parametrize("read", FILE_FORMS.values(), ids=FILE_FORMS)
def test_every_form_of_opening_a_file_is_seen(read, here):
    reads = recorded(read).reads
    assert list(reads.files) == ["data.txt"]
    assert not reads.variables
    assert reads.changes() == []
    (here / "data.txt").write_text("2")
    assert reads.changes() == ["data.txt changed"]
    (here / "data.txt").unlink()
    assert reads.changes() == ["data.txt no longer exists"]


def test_a_file_that_was_looked_for_and_a_folder_that_was_listed(here):
    def read():
        with pytest.raises(FileNotFoundError):
            Path("later.txt").read_bytes()
        return list(Path("folder").glob("*.bin"))

    reads = recorded(read).reads
    assert (reads.files, list(reads.folders)) == ({"later.txt": ABSENT}, ["folder"])
    (here / "later.txt").write_text("")
    (here / "folder" / "b.bin").write_text("")
    assert reads.changes() == ["later.txt did not exist before", "the content of folder changed"]


def test_what_was_made_meanwhile_is_no_input(here):
    def work():
        (here / "made.txt").write_text("1")
        (here / "made.txt").rename(here / "renamed.txt")
        (here / "renamed.txt").read_text()
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "a").write_text("1")
            Path(folder, "a").read_text()
            os.listdir(folder)

    recorder = recorded(work)
    assert not recorder.reads
    assert not recorder.unseen


def test_a_relative_path_counts_from_the_working_folder_and_an_absolute_one_with_it(here, monkeypatch):
    relative = recorded(lambda: open("data.txt").close()).reads
    absolute = recorded(lambda: open(here / "data.txt").close()).reads
    assert list(absolute.variables) == [WORKING_FOLDER]
    other = here / "folder"
    (other / "data.txt").write_text("2")
    monkeypatch.chdir(other)
    assert relative.changes() == ["data.txt changed"]
    assert absolute.changes() == ["the working folder changed"]
    (other / "data.txt").write_text("1")
    assert relative.changes() == []


def test_a_path_after_a_change_of_folder_is_absolute(here):
    def read():
        os.chdir("folder")
        return open("a.bin").close()

    assert list(recorded(read).reads.files) == [str(here / "folder" / "a.bin")]


def test_threads_that_are_started_inside_count_and_others_do_not():
    begin, done = threading.Event(), threading.Event()

    def other():
        begin.wait()
        os.environ.get("OF_ANOTHER_THREAD")
        done.set()

    outside = threading.Thread(target=other)
    outside.start()

    def work():
        begin.set()
        done.wait()
        inside = threading.Thread(target=lambda: open("folder/a.bin").close())
        inside.start()
        inside.join()

    reads = recorded(work).reads
    outside.join()
    assert (list(reads.files), reads.variables) == (["folder/a.bin"], {})


def test_what_an_inner_recorder_notes_counts_for_the_outer_one_too():
    with Recorder(RULES) as outer:
        inner = recorded(lambda: open("data.txt").close())
        os.environ.get("SCALE")
    assert list(inner.reads.files) == list(outer.reads.files) == ["data.txt"]
    assert (list(inner.reads.variables), list(outer.reads.variables)) == ([], ["SCALE"])


def test_what_hides_its_reads_is_named():
    def connect():
        with socket.socket(socket.AF_UNIX) as client, pytest.raises(OSError, match="No such file"):
            client.connect("nowhere")

    assert recorded(lambda: subprocess.run(["true"], check=True)).unseen == "starts a program"
    assert recorded(connect).unseen == "connects to an address"
    trusted = Rules(trusted=(str(Path(__file__).parent),))
    assert recorded(lambda: subprocess.run(["true"], check=True), trusted).unseen == ""


def test_who_hides_its_reads_is_named_too_and_not_an_installed_package():
    source = "def run():\n    import subprocess\n    subprocess.run(['true'], check=True)\n"
    own, installed = {"__name__": "mine"}, {"__name__": "theirs"}
    exec(compile(source, "/mine.py", "exec"), own)
    exec(compile(source, "/lib/site-packages/theirs.py", "exec"), installed)
    assert recorded(own["run"]).hiding == {"mine": "starts a program"}
    assert recorded(installed["run"]).hiding == {}


@pytest.mark.parametrize("prefix", ["prefix", "base_prefix"])
def test_a_project_may_lie_below_the_folder_of_the_virtual_environment(here, prefix):
    code = (
        f"import sys; sys.{prefix} = {str(here)!r}; sys.path.insert(0, 'folder')\n"
        "from brainsmith.plugin.read_rules import read_rules\n"
        "from brainsmith.store.read_recorder import Recorder\n"
        "with Recorder(read_rules()) as recorder:\n"
        "    open('data.txt').close()\n"
        "    import a_module\n"
        "print(sorted(recorder.reads.files), 'sys.path' in recorder.reads.variables)\n"
    )
    (here / "folder" / "a_module.py").write_text("")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    files, _, searched = done.stdout.rpartition(" ")
    assert "'data.txt'" in files
    assert repr(str(here / "folder" / "a_module.py")) in files
    assert searched == "True\n"


def test_trusted_sources_may_pass_the_environment_on_and_ask_where_things_are():
    rules = Rules(trusted=(str(Path(__file__).parent),), places=frozenset(("HOME",)))

    def read():
        return {**os.environ}, os.environ["HOME"], os.environ["SCALE"]

    assert list(recorded(read, rules).reads.variables) == ["SCALE"]


def test_folders_that_do_not_count_and_files_that_may_not_be_read(here):
    rules = Rules(folders=(str(here),), hidden=(str(here / "folder"),), shown=(str(here / "folder" / "b"),))
    (here / "folder" / "b").write_text("")
    recorder = recorded(lambda: (open("data.txt").close(), open("folder/b").close()), rules)
    assert not recorder.reads
    assert recorder.doubt == ""
    assert recorded(lambda: open("folder/a.bin").close(), rules).doubt == (
        "it reads a.bin, which is not an input of a step"
    )


def test_a_file_that_changes_between_two_reads(here):
    def read():
        open("data.txt").close()
        subprocess.run([sys.executable, "-c", "open('data.txt', 'w').write('2')"], check=True)
        open("data.txt").close()

    assert recorded(read).doubt == "data.txt changed while it ran"


def test_imports_and_python_s_own_files_do_not_count(here):
    (here / "a_module.py").write_text("X = 1\n")

    def work():
        sys.path.insert(0, str(here))
        try:
            import colorsys  # noqa: F401

            import a_module  # noqa: F401
        finally:
            sys.path.remove(str(here))

    sys.modules.pop("colorsys", None)
    try:
        reads = recorded(work).reads
    finally:
        sys.modules.pop("a_module", None)  # its file goes with this test
    assert [path for path, digest in reads.files.items() if digest != ABSENT] == [str(here / "a_module.py")]
    assert not reads.folders


def test_where_a_module_was_looked_for_counts_too(here, monkeypatch):
    (here / "first").mkdir()
    (here / "folder" / "a_module.py").write_text("X = 1\n")
    monkeypatch.setattr(sys, "path", [str(here / "first"), str(here / "folder"), *sys.path])

    def work():
        import a_module  # noqa: F401

        with pytest.raises(ImportError):
            import not_there  # noqa: F401

    try:
        reads = recorded(work).reads
    finally:
        sys.modules.pop("a_module", None)
    absent = {path for path, digest in reads.files.items() if digest == ABSENT}
    looked = {str(here / "first" / name) for name in ("a_module.py", "a_module/__init__.py")}
    looked |= {str(here / folder / "not_there.py") for folder in ("first", "folder")}
    assert looked <= absent
    assert str(here / "folder" / "a_module.py") not in absent
    assert IMPORT_PATH in reads.variables
    (here / "first" / "a_module.py").write_text("X = 2\n")
    assert reads.changes() == [f"{here / 'first' / 'a_module.py'} did not exist before"]


def test_plain_values_and_back():
    reads = Reads({"a": "1"}, {"b": "2"}, {"c": "3"})
    assert Reads.from_plain(reads.plain()).plain() == reads.plain()


def test_a_forked_child_records_for_nobody_that_is_not_there():
    inside, done = threading.Event(), threading.Event()

    def work():
        with Recorder(RULES):
            inside.set()
            done.wait()

    other = threading.Thread(target=work)
    other.start()
    inside.wait()
    child = os.fork()
    if child == 0:
        os._exit(0 if type(os.environ) is os._Environ and recorded(lambda: None).unseen == "" else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    done.set()
    other.join()
    assert type(os.environ) is os._Environ
