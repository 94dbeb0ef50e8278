"""Libraries that need others: found beside them, copied as any other, named when they are missing."""

from pathlib import Path

import numpy as np
import pytest

from brainsmith.errors import (
    LibraryDependencyError,
    LibraryFormatError,
    LibraryPermissionError,
    NativeLibraryError,
)
from brainsmith.native import open_library
from brainsmith.native.probe import loader_error
from tests.native.building import build_plugin, compile_c, is_mapped
from tests.native.opening import refused

X = np.array([1, 2, 3], np.float32)


OTHER_PLACES = [
    (where, named, isolation)
    for where in (".", "../lib")
    for named in (True, False)
    for isolation in (None, "process")
    if (where, named, isolation) not in {(".", False, None), ("../lib", True, "process")}
]


LOADER = {
    "libother.so.7: cannot open shared object file: No such file or directory": (
        LibraryDependencyError,
        "a.so needs the library 'libother.so.7', which was not found\n"
        "  install it, or link with -Wl,-rpath,FOLDER where it lies elsewhere",
    ),
    "/tmp/a.so: undefined symbol: nobody": (
        LibraryDependencyError,
        "a.so needs the symbol 'nobody', which none of the libraries that it names defines\n"
        "  link it with the one that does (-l...)",
    ),
    "/lib/libc.so.6: version `GLIBC_2.99' not found (required by a.so)": (
        LibraryDependencyError,
        "a.so needs version 'GLIBC_2.99' of /lib/libc.so.6, which is older here\n"
        "  build it on this system, or on one as old",
    ),
    "a.so: failed to map segment from shared object: Operation not permitted": (
        LibraryPermissionError,
        "a.so may not be loaded: a.so: failed to map segment from shared object: Operation not permitted",
    ),
    "a.so: file too short": (LibraryFormatError, "a.so is damaged: a.so: file too short"),
    "a.so: cannot enable executable stack": (
        NativeLibraryError,
        "a.so cannot be loaded: a.so: cannot enable executable stack",
    ),
}
"""What the loader of glibc says, and what it means."""


@pytest.mark.parametrize("said", LOADER)
def test_what_the_loader_says_is_told_with_what_to_do(said):
    kind, message = LOADER[said]
    error = loader_error(Path("a.so"), said)
    assert (type(error), str(error)) == (kind, message)


class TestNeeds:
    @pytest.mark.slow
    def test_a_library_that_is_not_there(self, tmp_path):
        source = tmp_path / "other.c"
        source.write_text("int other(void) { return 1; }\n")
        other = compile_c(source, tmp_path / "libother.so", "-Wl,-soname,libother.so.7")
        path = build_plugin(tmp_path, "-Wl,--no-as-needed", str(other))
        other.unlink()
        assert refused(path, LibraryDependencyError) == (
            f"{path} needs the library 'libother.so.7', which was not found\n"
            "  install it, or link with -Wl,-rpath,FOLDER where it lies elsewhere"
        )

    @pytest.mark.slow
    def test_a_symbol_that_nobody_defines(self, tmp_path):
        path = build_plugin(tmp_path, AT_CREATE="extern void nobody(void);nobody()")
        assert refused(path, LibraryDependencyError) == (
            f"{path} needs the symbol 'nobody', which none of the libraries that it names defines\n"
            "  link it with the one that does (-l...)"
        )

    @pytest.mark.parametrize(
        ("where", "named", "isolation"),
        [
            (".", False, None),
            ("../lib", True, "process"),
            *(pytest.param(*case, marks=pytest.mark.slow) for case in OTHER_PLACES),
        ],
    )
    @pytest.mark.slow
    def test_a_library_beside_it_is_found(self, tmp_path, isolation, named, where):
        """A copy has nothing beside it; it is given links to what it needs there, which has needs in its turn."""
        path = build_beside(tmp_path, where, named)
        library = open_library(path, isolation=isolation)
        assert library.ops[0].forward(X).tolist() == [5, 10, 15]
        library.close()
        assert not is_mapped(str(tmp_path))
        assert not is_mapped("brainsmith-spoilt")

    @pytest.mark.slow
    def test_such_a_library_is_copied_as_any_other(self, tmp_path):
        """Rebuilt, it is new code beside the old; closing one leaves the other alone."""
        old = open_library(build_beside(tmp_path, ".", True))
        new = open_library(build_beside(tmp_path, ".", True, TIMES=2))
        assert (old.ops[0].forward(X).tolist(), new.ops[0].forward(X).tolist()) == ([5, 10, 15], [10, 20, 30])
        again = open_library(new.path)
        new.close()
        assert (old.ops[0].forward(X).tolist(), again.ops[0].forward(X).tolist()) == (
            [5, 10, 15],
            [10, 20, 30],
        )
        old.close()
        again.close()

    @pytest.mark.slow
    def test_a_worker_that_is_started_again_runs_what_was_opened(self, tmp_path):
        library = open_library(build_beside(tmp_path, ".", True), isolation="process")
        build_beside(tmp_path, ".", True, TIMES=2)
        library._worker.connection.end()
        assert library.ops[0].forward(X).tolist() == [5, 10, 15]
        library.close()


def build_beside(folder, where, named, **parts):
    """Build a plugin that needs a library at a place relative to its own, which needs another beside itself."""
    lies = folder / "plugin" / where
    (folder / "plugin").mkdir(exist_ok=True)
    lies.mkdir(exist_ok=True)
    for name, needs in (("deep", ()), ("beside", ("-ldeep", "-Wl,-rpath,$ORIGIN"))):
        source = folder / f"{name}.c"
        value = "5" if name == "deep" else "deep()"
        source.write_text(f"int deep(void); int {name}(void) {{ return {value}; }}\n")
        soname = [f"-Wl,-soname,lib{name}.so"] if named else []
        compile_c(source, lies / f"new{name}", f"-L{lies}", "-Wl,--no-as-needed", *needs, *soname)
        (lies / f"new{name}").replace(lies / f"lib{name}.so")
    declared = folder / "beside.h"
    declared.write_text("int beside(void);\n")
    flags = [
        "-include",
        declared,
        f"-L{lies}",
        f"-Wl,-rpath,$ORIGIN/{where}",
        "-Wl,--no-as-needed",
        "-lbeside",
    ]
    flags.append(f"-Wl,-rpath-link,{lies}")
    built = build_plugin(folder, *flags, FACTOR=f"{parts.get('TIMES', 1)}*beside()", name="new.so")
    return built.replace(folder / "plugin" / "spoilt.so")
