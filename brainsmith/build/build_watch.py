"""Which files a build depends on, and a wait until any of them changes: `brainsmith watch` builds again then."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from brainsmith.build.keys import plugin_places, source_files
from brainsmith.errors import BlueprintError, BrainsmithError
from brainsmith.plugin import get_plugin_manager
from brainsmith.plugin.last_good import STALE
from brainsmith.store.file_watch import FileWatch
from brainsmith.store.files import stamp
from brainsmith.store.imported_sources import is_installed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from brainsmith.build.result import BuildResult
    from brainsmith.plugin.info import PluginInfo


class BuildWatch:
    """What one build depends on: its model with external data, its blueprints, golden data, plugins, and what steps read.

    Meanwhile plugins whose file breaks are stale: known, and refused by builds.
    """

    def __init__(
        self,
        model: str,
        blueprints: Sequence[str],
        overrides: Sequence[str] = (),
        given: Iterable[str] = (),
        output: str = "",
    ) -> None:
        """Prepare a watch.

        Args:
            model: The file.
            blueprints: The files; what they extend is found.
            overrides: What goes before them.
            given: Further files that the build is given, such as golden inputs.
            output: The build's folder; what lies in it is not watched.
        """
        self._model = model
        self._blueprints = list(blueprints)
        self._overrides = list(overrides)
        self._given = [model, *blueprints, *given]
        self._output = f"{Path(output).absolute()}{os.sep}"
        self._read: tuple[str, ...] = ()
        self._files = FileWatch()

    def __enter__(self) -> BuildWatch:
        self._files.notifier()
        get_plugin_manager().keep_last_good()
        self.follow(None, None)
        return self

    def __exit__(self, *error: object) -> None:
        self._files.close()
        get_plugin_manager().forget_last_good()

    @property
    def trouble(self) -> str:
        """Why changes are seen later than at once; empty if they are not."""
        return self._files.trouble

    def follow(
        self, result: BuildResult | None, error: BaseException | None, since: float | None = None
    ) -> None:
        """Watch what a build depends on.

        Args:
            result: Its result; without one, what the last build with a result read counts.
            error: What ended it.
            since: When it began, in seconds since the epoch: what it read and was not watched counts if it changed later.
        """
        if result is not None:
            self._read = result.read
        problems = error.problems if isinstance(error, BlueprintError) else ()
        files = {
            *self._given,
            *self._read,
            *self._extended(),
            *self._external(),
            *(one.file for one in problems),
        }
        kept = [path for path in (str(Path(file).absolute()) for file in files) if self._counts(path)]
        manager = get_plugin_manager()
        settings = manager.settings
        if settings.project:
            kept.append(f"{settings.project}/.brainsmith/config.yaml")
        own = [f"{settings.project}/plugins"] if settings.project else []
        with suppress(BrainsmithError):
            own += map(str, plugin_places(settings, manager.all_records()[0]))
        places = [place for place in (*own, *settings.plugin_folders) if not is_installed(place)]
        self._files.follow(kept, places, _sources_below, since)

    def wait(self, seconds: float | None = None) -> list[str]:
        """Wait until any file changed, or has since the last build looked at it; return which, sorted."""
        return self._files.wait(seconds)

    def stale(self) -> list[PluginInfo]:
        """Return the plugins whose file is broken."""
        return [info for info in get_plugin_manager().all_records()[0].known() if STALE in info.extra]

    def _extended(self) -> tuple[str, ...]:
        from brainsmith.blueprint.loader import load_blueprint

        try:
            return tuple(load_blueprint(self._blueprints, self._overrides).sources)
        except BlueprintError as error:
            return tuple(problem.file for problem in error.problems)
        except (BrainsmithError, OSError):
            return ()

    def _external(self) -> Iterator[str]:
        from brainsmith.runtime.file_facts import facts_of

        with suppress(OSError):
            for name in facts_of(Path(self._model), is_model=True).external:
                yield str(Path(self._model).parent / name)

    def _counts(self, path: str) -> bool:
        return not path.startswith(self._output) and not is_installed(path) and not Path(path).is_dir()


def saved_at(files: Iterable[str]) -> float | None:
    """Return when the last of some files was saved, in seconds since the epoch; None if none exists any more."""
    times = [max(stamp(path)[:2]) for path in files]
    return max(times) / 1e9 if times and max(times) > 0 else None


def _sources_below(place: str) -> list[str]:
    path = Path(place)
    try:
        return [str(file) for file in source_files(path)] if path.exists() else []
    except OSError:  # it vanished just now
        return []
