"""Run one step: from the cache, or for real, with what it read and wrote noted."""

from __future__ import annotations

import logging
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field, fields
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.build.artifact import Artifact
from brainsmith.build.cache import DAMAGED, BuildCache, CacheAnswer, Outcome
from brainsmith.build.callable_source import Uncacheable
from brainsmith.build.config import RecordingView, StepConfig, current, finn_config, reads_of, writes_of
from brainsmith.build.failure import failed_step, missing_framework, refusal
from brainsmith.build.guard import process_state_kept
from brainsmith.build.keys import Surroundings, framework_versions, plugin_sources, step_parts
from brainsmith.build.lost_facts import KnownFacts
from brainsmith.build.messages import LOG, BuildLog, Said
from brainsmith.build.outside import packages_of, rules, unmatched_inputs, why_not_kept
from brainsmith.build.relocate import foreign_paths, relocated
from brainsmith.build.side_files import SideFiles, restore
from brainsmith.build.tensor_facts import TensorFacts
from brainsmith.build.transform_watch import transforms_watched, well_formed_fault
from brainsmith.errors import BuildError, PluginLoadError
from brainsmith.monitoring.current import STEP, Current
from brainsmith.monitoring.work_span import REUSED, WorkSpan
from brainsmith.plugin.finn_install import INSTALL_FINN
from brainsmith.plugin.held_plugins import HeldPlugins
from brainsmith.plugin.import_reads import note_imported, reads_at_import
from brainsmith.plugin.mounted_folders import FOLDER_PREFIX, plugin_mounts
from brainsmith.plugin.plugin_registry import REGISTRY
from brainsmith.plugin.read_rules import FRAMEWORKS
from brainsmith.plugin.remembered import add_remembered, remember, top_name
from brainsmith.plugin.renewal import imported_helpers, refuse_changed, renew
from brainsmith.plugin.requirements import lacks_finn_alone
from brainsmith.shown import error_text
from brainsmith.store.about import MadeBy
from brainsmith.store.audit import RUNNING
from brainsmith.store.fingerprint import digest
from brainsmith.store.read_recorder import Recorder
from brainsmith.store.reads import Reads
from brainsmith.store.uncounted import Rules
from brainsmith.web.step_result import StepResult

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from brainsmith.blueprint.build_step import BuildStep, StepFunction

LOGGER = logging.getLogger(__name__)
# Stands for the output folder in what is cached: another build has another one.
_OUTPUT = "@brainsmith-output@"
_MODEL = "model.onnx"
# What of cfg says where results go, and not what they are.
_PLACES = ("output_dir", "config_path", "model_path")


def _definition(step: BuildStep) -> str:
    """Return `file:line`, where a step is defined that the user or a distribution brings; else nothing."""
    if step.framework in FRAMEWORKS:
        return ""
    if step.record is not None:
        return step.record.origin
    code = getattr(step.target, "__code__", None)
    return f"{code.co_filename}:{code.co_firstlineno}" if code is not None else ""


def _function(step: BuildStep) -> str:
    """Return what runs, with its module."""
    if step.record is not None:
        return step.record.reference.replace(":", ".")
    return f"{getattr(step.target, '__module__', '')}.{getattr(step.target, '__qualname__', step.name)}"


def _without_finn(steps: Sequence[BuildStep]) -> dict[int, str]:
    """Return why steps cannot be used here, by their place: a blueprint may name what needs FINN where there is none."""
    if find_spec("finn") is not None:
        return {}
    records = {at: step.record for at, step in enumerate(steps) if step.record is not None}
    reason = f"needs FINN, which is not installed: {INSTALL_FINN}"
    return {at: reason for at, record in records.items() if record.requires and lacks_finn_alone(record)}


@dataclass(eq=False, repr=False)
class StepRunner:
    """Runs the steps of one build.

    Attributes:
        steps: All of them: they are all imported before the first one runs, so that a broken one is known at
            once.
        config: The `cfg` of the steps. Where one of them is FINN's own, all get FINN's config with the same
            values, made when the first step has to run.
        staging: Where steps put files.
        cache: None to run everything.
        folders: Where plugins are that belong to no framework.
        asked: What is asked of the versions of plugins, which decides what their names mean.
        frameworks: As `framework_versions` gave them a moment ago; nothing to ask.
        log: What they say.
        made: Which build it is, for those that reuse its results: `model`, `blueprint` and `output`.
        results: One for each step so far.
        outside: What they read from outside, also those whose results are reused.
        warnings: What the user should know.
        held: The plugins that the build began with.
        first_run: When the first step began that could not be reused, in seconds since the epoch; None if none did.
    """

    steps: Sequence[BuildStep]
    config: StepConfig
    staging: Path
    cache: BuildCache | None
    folders: Sequence[Path] = ()
    asked: Sequence[str] = ()
    frameworks: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        live = {name for name in plugin_mounts() if name in sys.modules}
        sources = self._sources()
        renew()  # a key may not hold modules that are about to be forgotten
        self.held = HeldPlugins(REGISTRY.loaded_objects(), lambda: self._differ_from(sources))
        self._with_finn = any(step.framework == "finn" and step.kind == "step" for step in self.steps)
        known = ({}, "") if self.cache is None else (self.frameworks or framework_versions(), sources)
        cfg = "finn" if self._with_finn else "own"
        self._around = Surroundings(*known, cfg, tuple(map(str, self.folders)))
        self._functions: list[StepFunction] | None = None
        self._rules: Rules | None = None
        self._given: Any = None
        self._changed: set[str] = set()  # the parts of cfg that a step wrote
        self._side = SideFiles(self.staging, self._portable)
        self._facts: dict[Artifact, TensorFacts] = {}  # of the last result
        self.log = BuildLog(self.staging / LOG)
        self.made: dict[str, str] = {"output": str(self.staging)}
        self.results: list[StepResult] = []
        self.warnings: list[str] = []
        self.outside = Reads()
        self._unusable = _without_finn(self.steps)
        self.first_run: float | None = None
        self._load_live(live)

    def _sources(self) -> str:
        return plugin_sources(self.folders, self.asked)

    def _differ_from(self, sources: str) -> bool:
        """Tell whether plugin files changed. It is asked while plugins are imported, which did not read what this reads."""
        found: list[str] = []
        RUNNING.aside(lambda: found.append(self._sources()))
        return found != [sources]

    def _load_live(self, live: set[str]) -> None:
        """Load the steps of plugin folders that this process has imported before, so that no edit comes between.

        One that cannot be loaded is an error where it has to run.
        """
        with self.held:
            for step in self.steps:
                if step.record is not None and top_name(step.module) in live:
                    with suppress(PluginLoadError):
                        step.load()

    def apply(self, step: BuildStep, model: Artifact) -> Artifact:
        """Return a step's result.

        Raises:
            BuildError: It failed; the message names it and its node.
            PluginLoadError: A step of the pipeline cannot be imported, or changed since it was and cannot be loaded anew.
        """
        about = {"brainsmith.step.name": step.name, "brainsmith.step.framework": step.framework}
        with Current(STEP, step.name), WorkSpan("step", _function(step), {**about}, step.name) as span:
            result = self._applied(step, model)
            if self.results[-1].reused:
                span.outcome = REUSED
            return result

    def _applied(self, step: BuildStep, model: Artifact) -> Artifact:
        started = time.perf_counter()
        if reason := self._unusable.get(len(self.results)):
            error = BuildError(f"step '{step.name}' cannot run: it {reason}")
            error.step = step.name
            raise error
        self.warnings += unmatched_inputs(step)
        parts, why = self._parts(step, model)
        if parts is None or self.cache is None:
            return self._run_noted(step, model, None, why, started)
        reused, why = self._kept(step, parts, started)
        if reused is not None:
            return reused
        with self.cache.running(parts):
            reused, later = self._kept(step, parts, started)  # it may have been made since
            return self._run_noted(step, model, parts, why or later, started) if reused is None else reused

    def _kept(self, step: BuildStep, parts: dict[str, str], started: float) -> tuple[Artifact | None, str]:
        """Return a step's result from the cache, or why it has to run."""
        assert self.cache is not None
        found = self.cache.find(parts, self.config if self._given is None else self._given)
        reused = self._reuse(found)
        if reused is None:
            return None, found.reason if found.model is None else DAMAGED
        self.log.repeat(step.name, found.said, shown=step.framework not in FRAMEWORKS)
        self.outside.add(found.outside)
        self._note(step, found.said, time.perf_counter() - started, True, found.reason, found.seconds)
        return reused, ""

    def _run_noted(
        self, step: BuildStep, model: Artifact, parts: dict[str, str] | None, why: str, started: float
    ) -> Artifact:
        # Loading every step may take seconds: they count for the first one that has to run.
        with self.log.taken(f"loading the steps, for {step.name}"):
            function = self._load(len(self.results))
        shown = step.framework not in FRAMEWORKS  # what frameworks print is for the log
        with MadeBy(step=step.name), self.log.taken(step.name, shown) as said:
            result, why_not = self._run(step, function, model, parts, said, started)
        seconds = time.perf_counter() - started
        self._note(step, said, seconds, False, why_not or why, seconds)
        return result

    def fingerprint(self, model: Artifact) -> str | None:
        """Return what stands for all results of the steps, and for the code that may look at it; None without a cache.

        Args:
            model: The last one.
        """
        if self.cache is None:
            return None
        around = self._around
        return f"{self._content(model)} {self._side_files()} {around.plugins} {sorted(around.frameworks.items())}"

    def _content(self, model: Artifact) -> str:
        """Return a digest of a model that is the same in every output folder."""
        return digest(self._portable(_MODEL, model.data))

    def _note(
        self, step: BuildStep, said: Said, seconds: float, reused: bool, why: str, original: float | None
    ) -> None:
        """Note a result. The build warns at its end of what this project itself warned of; frameworks warn of much."""
        result = StepResult(step.name, step.framework, seconds, reused, why, messages=tuple(said.warnings))
        result.original_seconds = original
        self.results.append(result)
        self.warnings += [f"step '{step.name}': {remark}" for remark in said.remarks]

    def _parts(self, step: BuildStep, model: Artifact) -> tuple[dict[str, str] | None, str]:
        if self.cache is None:
            return None, "the build cache is off"
        try:
            content, files = self._content(model), self._side_files()
            return step_parts(step, content, self._around, self._changes(), files), ""
        except Uncacheable as reason:
            return None, f"it is never reused: {reason}"

    def _changes(self) -> str:
        """Return what earlier steps changed of `cfg`, as a part of the key: this one may read it."""
        changed = {name: current(self._given, name) for name in sorted(self._changed)}
        return str(changed).replace(str(self.staging), _OUTPUT) if changed else ""

    def _side_files(self) -> str:
        """Return a digest of what earlier steps left in the output folder, as a part of the key: this one may read it."""
        return digest("\n".join(f"{name} {kind}" for name, kind in self._side.state().items()))

    def _reuse(self, found: CacheAnswer) -> Artifact | None:
        """Return the result of an entry, whose changes are made to the output folder; None if it cannot be used."""
        if found.model is None or found.folder is None:
            return None
        try:
            written = restore(found.folder / "files", found.side, self.staging, self._local)
        except OSError:  # it does not fit what lies there: an entry of somebody else, perhaps
            return None
        if written is None:
            return None
        self._side.note_written(written)
        data = self._local(_MODEL, found.model.data)
        return found.model if data == found.model.data else Artifact(data)

    def restored(self, contents: Mapping[str, bytes]) -> None:
        """Note files that were written to the output folder as they are now, in place of a step."""
        self._side.note_written({name: self._portable(name, data) for name, data in contents.items()})

    def _load(self, at: int) -> StepFunction:
        if self._functions is None:
            self._functions = [step.load() for step in self.steps[: min(self._unusable, default=None)]]
            refuse_changed()
        return self._functions[at]

    def _step_config(self) -> Any:
        if self._given is None:
            self._given = finn_config(self.config) if self._with_finn else self.config
        return self._given

    def _run(
        self,
        step: BuildStep,
        function: StepFunction,
        model: Artifact,
        parts: dict[str, str] | None,
        said: Said,
        started: float,
    ) -> tuple[Artifact, str]:
        """Run a step and keep its result; the text says why it could not be kept."""
        if self._rules is None:
            self._rules = rules(self.staging, self.folders)
        view, recorder = RecordingView(self._step_config()), Recorder(self._rules)
        if self.first_run is None:
            self.first_run = time.time()
        before = self._side.state()
        given = model.data
        seed = f"{step.name} {self._content(model)}"
        self._side.step_runs()
        try:
            known = KnownFacts(model, self._facts.get(model))
            with process_state_kept(seed), recorder, transforms_watched(step.passes, known.lineage):
                wrapper = function(model.take(), view)
                facts = _checked(wrapper, step)
            for line in known.restore(wrapper, facts):
                LOGGER.warning("%s", line)
            result = Artifact.of(wrapper)
            self._facts = {} if known.after is None else {result: known.after}
        except PluginLoadError:
            raise
        except (Exception, SystemExit) as error:
            self.log.note_failure(step.name, error)
            if refused := refusal(error):
                refused.__cause__ = error
                raise failed_step(step.name, refused, str(refused)) from refused
            text, file = missing_framework(error) or error_text(error), _definition(step).rpartition(":")[0]
            raise failed_step(step.name, error, text, file) from error
        if any(name.startswith(FOLDER_PREFIX) for name in recorder.imported):
            self.held.refuse_changed(f"what step '{step.name}' imports while it runs")
        remember(step.module, recorder.readers)
        note_imported(recorder.imported)
        writes = writes_of(view)
        self._changed.update(writes)
        outside = self._outside(step, recorder)
        self.outside.add(outside)
        if parts is None or self.cache is None:
            return result, ""
        after = self._side.state()
        why_not = (
            (f"it changes cfg.{writes[0]}" if writes else "")
            or why_not_kept(step, recorder)
            or self._why_not_current()
            or self._side.why_not_kept(before, after)
            or self._foreign(given, result.data)
        )
        if why_not:
            return result, f"it is never reused: {why_not}"
        outcome = Outcome(
            Artifact(self._portable(_MODEL, result.data)),
            self._reads(view),
            outside,
            self._side.changes(before, after),
            said,
            self.made,
            time.perf_counter() - started,
        )
        try:
            self.cache.store(parts, outcome)
        except OSError as error:
            self.warnings.append(f"the build cache cannot be written: {error}")
            self.cache = None
        return result, ""

    def _foreign(self, before: bytes, after: bytes) -> str:
        """Return what a result names outside of the output folder that the model before did not; empty if nothing."""
        folder = str(self.staging)
        foreign = foreign_paths(after, folder) - foreign_paths(before, folder)
        return f"its result names {min(foreign)}, which is outside the output folder" if foreign else ""

    def _outside(self, step: BuildStep, recorder: Recorder) -> Reads:
        """Return all that a step read from outside; what it read itself counts as it was then."""
        outside = recorder.reads
        add_remembered(outside, step.module, step.record is not None)
        for reads in (reads_at_import(), packages_of(step), Reads(imported_helpers())):
            outside.add(reads)
        return outside

    def _why_not_current(self) -> str:
        """Return why what ran is not what the key says: sources that changed meanwhile; empty if it is."""
        if self.held.has_changed():
            return "plugins changed while the build ran"
        try:
            refuse_changed()
        except PluginLoadError as error:
            return str(error)
        return ""

    def _reads(self, view: RecordingView) -> dict[str, str]:
        """Return what counts of what a step read: not where things are, nor what follows from FINN's version."""
        known = {field.name for field in fields(self.config)}
        return {
            name: value
            for name, value in reads_of(view).items()
            if name not in _PLACES and (name in known or not self._with_finn)
        }

    def _portable(self, name: str, data: bytes) -> bytes:
        return relocated(name, data, str(self.staging), _OUTPUT)

    def _local(self, name: str, data: bytes) -> bytes:
        return relocated(name, data, _OUTPUT, str(self.staging))


def _checked(model: Any, step: BuildStep) -> TensorFacts:
    """Return what is known of the graph that a step returned, which is well formed."""
    where = f" ({_definition(step)})" if _definition(step) else ""
    if not hasattr(model, "graph") or not hasattr(model, "model"):
        raise BuildError(f"it must return a model, not {type(model).__name__}{where}")
    facts = TensorFacts(model.graph)
    if not facts.nodes:
        raise BuildError(f"it returned a model without nodes{where}")
    if fault := well_formed_fault(facts, step.framework):
        raise BuildError(f"it returned a broken graph: {fault}{where}")
    return facts
