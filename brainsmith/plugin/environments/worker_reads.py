"""What plugins read in the worker of another environment, for the recorder of the build that uses them.

As `worker_wire`, it is run by the Python of the environment, from 3.9 on.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_HIDING = ("subprocess.Popen", "os.system", "os.posix_spawn", "os.fork", "os.forkpty", "socket.connect")
"""Events after which a result may come from where nobody sees it."""

_LISTINGS = ("os.listdir", "os.scandir")
LISTED = -1
"""What stands for the flags of a folder that was listed."""

_PACKAGES = tuple(f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages"))


class WorkerReads:
    """What plugins open here, for the recorder of the build: all but this Python and what is installed in it."""

    def __init__(self, shared: str) -> None:
        """Begin to note.

        Args:
            shared: The folder of what both ends pass to each other, which is no read of a plugin.
        """
        self._without = tuple(
            os.path.join(os.path.realpath(path), "")
            for path in {
                sys.prefix,
                sys.base_prefix,
                os.path.dirname(os.path.abspath(__file__)),
                shared,
                "/proc",
                "/sys",
                "/dev",
            }
        )
        self.importing = False
        self._at_import: dict[str, int] = {}
        self._in_call: dict[str, int] = {}
        self._hidden_at_import, self._hidden = "", ""
        sys.addaudithook(self._hook)

    def _hook(self, event: str, arguments: Any) -> None:
        if event == "open":
            self._note(arguments[0], arguments[2])
        elif event in _LISTINGS:
            if not sys._getframe(1).f_code.co_filename.startswith("<frozen importlib"):
                self._note("." if arguments[0] is None else arguments[0], LISTED)
        elif event in _HIDING and not self._is_installed():
            if self.importing:
                self._hidden_at_import = event
            else:
                self._hidden = event

    def _note(self, path: Any, flags: int) -> None:
        if isinstance(path, (str, bytes)):
            whole = os.path.abspath(os.fsdecode(path))
            if not whole.endswith(".pyc") and not os.path.join(os.path.realpath(whole), "").startswith(
                self._without
            ):
                table = self._at_import if self.importing else self._in_call
                table.setdefault(whole, flags)

    def _is_installed(self) -> bool:
        """Tell whether only installed packages, whose versions count, take part in what is done now."""
        frame: Any = sys._getframe(2)
        while frame is not None:
            file = frame.f_code.co_filename
            if not file.startswith("<") and not os.path.realpath(file).startswith(self._without):
                return False
            frame = frame.f_back
        return True

    def is_elsewhere(self, path: str) -> bool:
        """Tell whether a file is neither of this Python nor in a folder of installed packages."""
        whole = os.path.realpath(path)
        return not whole.startswith(self._without) and not any(part in whole for part in _PACKAGES)

    def taken(self) -> dict[str, Any]:
        """Return what the call read that ends, and all that was read at imports."""
        found = {**self._at_import, **self._in_call}
        hidden = self._hidden or self._hidden_at_import
        self._in_call, self._hidden = {}, ""
        return {"reads": list(found.items()), "hidden": hidden}
