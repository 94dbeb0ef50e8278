"""Run one step: from the cache, or for real, with what it read and wrote noted."""

from __future__ import annotations

import logging
import time
from dataclasses import fields
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
from brainsmith.build.side_files import SideFiles
from brainsmith.build.tensor_facts import TensorFacts
from brainsmith.build.transform_watch import transforms_watched, well_formed_fault
from brainsmith.errors import BrainsmithError, BuildError, PluginLoadError
from brainsmith.plugin.finn_install import INSTALL_FINN
from brainsmith.plugin.import_reads import note_imported, reads_at_import
from brainsmith.plugin.remembered import add_remembered, remember
from brainsmith.plugin.renewal import imported_helpers, refuse_changed, renew
from brainsmith.plugin.requirements import lacks_finn_alone
from brainsmith.store.about import MadeBy
from brainsmith.store.fingerprint import digest
from brainsmith.store.reads import Reads
from brainsmith.store.recorder import Recorder
from brainsmith.store.rules import Rules
from brainsmith.web.step_result import StepResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from brainsmith.blueprint.build_step import BuildStep, StepFunction

LOGGER = logging.getLogger(__name__)
# Stands for the output folder in what is cached: another build has another one.
_OUTPUT = "@brainsmith-output@"
_MODEL = "model.onnx"
# What steps of theirs print is for the log; what a step of the user's own prints is meant for the user.
_QUIET = ("brainsmith", "qonnx", "finn")
# What of cfg says where results go, and not what they are.
_PLACES = ("output_dir", "config_path", "model_path")


def _own_file(step: BuildStep, error: BaseException) -> str:
    """Return the file of a step that the user or a distribution brings, and whose own code raised; else nothing."""
    if step.framework in _QUIET or isinstance(error, BrainsmithError):
        return ""
    if step.record is not None:
        return step.record.file
    code = getattr(step.target, "__code__", None)
    return code.co_filename if code is not None else ""


def _definition(step: BuildStep) -> str:
    """Return ` (file:line)`, where a step is defined that the user or a distribution brings; else nothing."""
    if step.framework in _QUIET:
        return ""
    if step.record is not None:
        return f" ({step.record.origin})"
    code = getattr(step.target, "__code__", None)
    return f" ({code.co_filename}:{code.co_firstlineno})" if code is not None else ""


def _without_finn(steps: Sequence[BuildStep]) -> dict[int, str]:
    """Return why steps cannot be used here, by their place: a blueprint may name what needs FINN where there is none."""
    if find_spec("finn") is not None:
        return {}
    records = {at: step.record for at, step in enumerate(steps) if step.record is not None}
    reason = f"needs FINN, which is not installed: {INSTALL_FINN}"
    return {at: reason for at, record in records.items() if record.requires and lacks_finn_alone(record)}


def _failed(step: BuildStep, error: BaseException) -> BuildError:
    """Return the error of a step for what it raised, other than what QONNX or FINN refuses."""
    text = str(error) if isinstance(error, BrainsmithError) else f"{type(error).__name__}: {error}"
    return failed_step(step.name, error, missing_framework(error) or text, _own_file(step, error))


class StepRunner:
    """Runs the steps of one build.

    Args:
        steps: All of them: they are all imported before the first one runs, so that a broken one is known at
            once.
        config: The `cfg` of the steps. Where one of them is FINN's own, all get FINN's config with the same
            values, made when the first step has to run.
        staging: Where steps put files.
        cache: None to run everything.
        folders: Where plugins are that belong to no framework.

    Attributes:
        log: What they say.
        made: Which build it is, for those that reuse its results: `model`, `blueprint` and `output`.
        results: One for each step so far.
        warnings: What the user should know.
    """

    def __init__(
        self,
        steps: Sequence[BuildStep],
        config: StepConfig,
        staging: Path,
        cache: BuildCache | None,
        folders: Sequence[Path] = (),
    ) -> None:
        self._steps = steps
        self._config = config
        self._staging = staging
        self._cache = cache
        renew()  # a key may not hold modules that are about to be forgotten
        self._versions = framework_versions() if cache is not None else {}
        self._plugins = plugin_sources(folders) if cache is not None else ""
        self._functions: list[StepFunction] | None = None
        self._with_finn = any(step.framework == "finn" and step.kind == "step" for step in steps)
        self._folders = folders
        self._rules: Rules | None = None
        self._given: Any = None
        self._changed: set[str] = set()  # the parts of cfg that a step wrote
        self._side = SideFiles(staging, self._portable)
        self._facts: dict[Artifact, TensorFacts] = {}  # of the last result
        self.log = BuildLog(staging / LOG)
        self.made: dict[str, str] = {"output": str(staging)}
        self.results: list[StepResult] = []
        self.warnings: list[str] = []
        self._unusable = _without_finn(steps)

    def apply(self, step: BuildStep, model: Artifact) -> Artifact:
        """Return a step's result.

        Raises:
            BuildError: It failed; the message names it and its node.
            PluginLoadError: A step of the pipeline cannot be imported, or changed since it was and cannot be loaded anew.
        """
        started = time.perf_counter()
        if reason := self._unusable.get(len(self.results)):
            error = BuildError(f"step '{step.name}' cannot run: it {reason}")
            error.step = step.name
            raise error
        self.warnings += unmatched_inputs(step)
        parts, why = self._parts(step, model)
        if parts is not None and self._cache is not None:
            found = self._cache.find(parts, self._config if self._given is None else self._given)
            reused = self._reuse(found)
            if reused is not None:
                said = Said(list(found.messages), list(found.printed))
                self.log.repeat(step.name, said, shown=step.framework not in _QUIET)
                self._note(step, started, found.reason, True, found.messages, found.seconds)
                self._warn_of(step, said)
                return reused
            why = found.reason if found.model is None else DAMAGED
        # Loading every step may take seconds: they count for the first one that has to run.
        with self.log.taken(f"loading the steps, for {step.name}"):
            function = self._load(len(self.results))
        with MadeBy(step=step.name), self.log.taken(step.name, shown=step.framework not in _QUIET) as said:
            result, why_not = self._run(step, function, model, parts, said, started)
        self._note(step, started, why_not or why, False, tuple(said.warnings))
        self._warn_of(step, said)
        return result

    def _warn_of(self, step: BuildStep, said: Said) -> None:
        """Let the build warn at its end of what this project itself warned of in a step; frameworks warn of much."""
        self.warnings += [f"step '{step.name}': {remark}" for remark in said.remarks]

    def fingerprint(self, model: Artifact) -> str | None:
        """Return what stands for all that came of the steps, and for the code that may look at it; None without a cache.

        Args:
            model: The last one.
        """
        if self._cache is None:
            return None
        content = Artifact(self._portable(_MODEL, model.data)).digest
        return f"{content} {self._side_files()} {self._plugins} {sorted(self._versions.items())}"

    def _note(
        self,
        step: BuildStep,
        started: float,
        why: str,
        reused: bool,
        messages: tuple[str, ...],
        original: float | None = None,
    ) -> None:
        seconds = time.perf_counter() - started
        ran = original if reused else seconds
        self.results.append(
            StepResult(
                step.name, step.framework, seconds, reused, why, messages=messages, original_seconds=ran
            )
        )

    def _parts(self, step: BuildStep, model: Artifact) -> tuple[dict[str, str] | None, str]:
        if self._cache is None:
            return None, "the build cache is off"
        try:
            content = Artifact(self._portable(_MODEL, model.data)).digest
            around = Surroundings(self._versions, self._plugins, "finn" if self._with_finn else "own")
            return step_parts(step, content, around, self._changes(), self._side_files()), ""
        except Uncacheable as reason:
            return None, f"it is never reused: {reason}"

    def _changes(self) -> str:
        """Return what earlier steps changed of `cfg`, as a part of the key: this one may read it."""
        changed = {name: current(self._given, name) for name in sorted(self._changed)}
        return str(changed).replace(str(self._staging), _OUTPUT) if changed else ""

    def _side_files(self) -> str:
        """Return a digest of what earlier steps left in the output folder, as a part of the key: this one may read it."""
        return digest("\n".join(f"{name} {kind}" for name, kind in self._side.state().items()))

    def _reuse(self, found: CacheAnswer) -> Artifact | None:
        if (
            found.model is None
            or self._cache is None
            or not self._cache.restore(found, self._staging, self._local)
        ):
            return None
        data = self._local(_MODEL, found.model.data)
        return found.model if data == found.model.data else Artifact(data)

    def _load(self, at: int) -> StepFunction:
        if self._functions is None:
            renew()
            self._functions = [step.load() for step in self._steps[: min(self._unusable, default=None)]]
            refuse_changed()
        return self._functions[at]

    def _step_config(self) -> Any:
        if self._given is None:
            self._given = finn_config(self._config) if self._with_finn else self._config
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
            self._rules = rules(self._staging, self._folders)
        view, recorder = RecordingView(self._step_config()), Recorder(self._rules)
        before = self._side.state()
        given = model.data
        seed = f"{step.name} {Artifact(self._portable(_MODEL, given)).digest}"
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
            refused = refusal(error)
            if refused is None:
                raise _failed(step, error) from error
            refused.__cause__ = error
            raise failed_step(step.name, error, str(refused)) from refused
        remember(step.module, recorder.readers)
        note_imported(recorder.imported)
        writes = writes_of(view)
        self._changed.update(writes)
        if parts is None or self._cache is None:
            return result, ""
        foreign = foreign_paths(result.data, str(self._staging)) - foreign_paths(given, str(self._staging))
        if writes:
            return result, f"it is never reused: it changes cfg.{writes[0]}"
        after = self._side.state()
        unseen = (
            why_not_kept(step, recorder) or self._why_not_current() or self._side.why_not_kept(before, after)
        )
        if unseen:
            return result, f"it is never reused: {unseen}"
        if foreign:
            where = f"{min(foreign)}, which is outside the output folder"
            return result, f"it is never reused: its result names {where}"
        portable = Artifact(self._portable(_MODEL, result.data))
        outside = self._outside(step, recorder)
        self._keep(
            parts,
            Outcome(
                portable,
                self._reads(view),
                outside,
                self._side.changes(before, after),
                tuple(said.warnings),
                tuple(said.texts),
                self.made,
                time.perf_counter() - started,
            ),
        )
        return result, ""

    def _outside(self, step: BuildStep, recorder: Recorder) -> Reads:
        """Return all that a step read from outside; what it read itself counts as it was then."""
        outside = recorder.reads
        add_remembered(outside, step.module, step.record is not None)
        for reads in (reads_at_import(), packages_of(step), Reads(imported_helpers())):
            outside.add(reads)
        return outside

    def _why_not_current(self) -> str:
        """Return why what ran is not what the key says: sources that changed meanwhile; empty if it is."""
        if plugin_sources(self._folders) != self._plugins:
            return "plugins changed while the build ran"
        try:
            refuse_changed()
        except PluginLoadError as error:
            return str(error)
        return ""

    def _reads(self, view: RecordingView) -> dict[str, str]:
        """Return what counts of what a step read: not where things are, nor what follows from FINN's version."""
        known = {field.name for field in fields(self._config)}
        return {
            name: value
            for name, value in reads_of(view).items()
            if name not in _PLACES and (name in known or not self._with_finn)
        }

    def _keep(self, parts: dict[str, str], outcome: Outcome) -> None:
        assert self._cache is not None
        try:
            self._cache.store(parts, outcome)
        except OSError as error:
            self.warnings.append(f"the build cache cannot be written: {error}")
            self._cache = None

    def _portable(self, name: str, data: bytes) -> bytes:
        return relocated(name, data, str(self._staging), _OUTPUT)

    def _local(self, name: str, data: bytes) -> bytes:
        return relocated(name, data, _OUTPUT, str(self._staging))


def _checked(model: Any, step: BuildStep) -> TensorFacts:
    """Return what is known of the graph that a step returned, which is well formed."""
    if not hasattr(model, "graph") or not hasattr(model, "model"):
        raise BuildError(f"it must return a model, not {type(model).__name__}{_definition(step)}")
    facts = TensorFacts(model.graph)
    if not facts.nodes:
        raise BuildError(f"it returned a model without nodes{_definition(step)}")
    if fault := well_formed_fault(facts, step.framework):
        raise BuildError(f"it returned a broken graph: {fault}{_definition(step)}")
    return facts
