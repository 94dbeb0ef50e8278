"""One build on its way: steps, checkpoints, verification and report."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from brainsmith.build.cache import BuildCache
from brainsmith.build.circuits import in_parts, read_circuit, read_synthesis
from brainsmith.build.config import StepConfig
from brainsmith.build.device_use import device_use
from brainsmith.build.early_steps import EarlySteps
from brainsmith.build.estimates import read_estimates
from brainsmith.build.failure import explained
from brainsmith.build.golden import inputs_file, load_golden
from brainsmith.build.graphs import graphs_of
from brainsmith.build.integers_report import read_integers
from brainsmith.build.keys import LIBRARIES, PACKAGES
from brainsmith.build.messages import LOG
from brainsmith.build.model import described
from brainsmith.build.provenance import BuildInputs, write_provenance
from brainsmith.build.rate import rate_of
from brainsmith.build.report import PACKAGE, PAGE, Report, files_of, imported_modules, plugin_list
from brainsmith.build.result import BuildResult, Progress
from brainsmith.build.runner import StepRunner
from brainsmith.build.verification import BuildVerification, compared_with
from brainsmith.build.workspace import checkpoint_name
from brainsmith.errors import BuildError
from brainsmith.monitoring.current import BUILD, STEP, Current
from brainsmith.progress import Listening
from brainsmith.rtl.fitting.fit import REPORT as FIT
from brainsmith.steps.step_reports import read_report
from brainsmith.store.about import MadeBy
from brainsmith.store.audit import RUNNING
from brainsmith.store.reads import file_digest
from brainsmith.web.step_result import step_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from brainsmith.build.artifact import Artifact
    from brainsmith.build.task import BuildTask
    from brainsmith.build.workspace import Workspace
    from brainsmith.plugin.info import PluginInfo
    from brainsmith.progress import Work
    from brainsmith.web.step_result import StepResult


_TOOLS = ("g++", "make")
"""Programs that builds run, beside those that packages bring."""

_STATED = ("stated", "overrides", "output")
"""What the provenance has of the blueprint: all that it states, what was given in place of that, and how far it goes."""


class _ListenerFailedError(BaseException):
    """Carries what a listener raised through the step that called it, which has not failed."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


@dataclass(eq=False, repr=False)
class BuildJob:
    """What one build runs, and what is known so far.

    Attributes:
        task: What it was asked to do.
        source: The input model.
        workspace: Where its files are.
        name: Of the model.
        progress: Receives what happens.
        use_cache: Whether results of earlier builds may be reused, and are kept.
        explain: Whether progress says of each step why it was not reused.
        page: Whether to write the page, and the graphs in the report.
        runner: What runs them; it has their results.
        warnings: What the user should know.
        maker: Notes in what is kept meanwhile that this build made it.
    """

    task: BuildTask
    source: Artifact
    workspace: Workspace
    name: str
    progress: Callable[[Progress], None] | None
    use_cache: bool
    explain: bool
    page: bool

    def __post_init__(self) -> None:
        self._now = 0, "before the first step"  # the number and name of what runs
        self._verification: BuildVerification | None = None
        self._reached: Artifact | None = None  # the last good model
        self.warnings: list[str] = list(self.task.warnings)
        self._config = StepConfig(output_dir=str(self.workspace.staging), **self.task.config)
        cache = BuildCache(self.task.cache_folder, shared=self.task.shared) if self.use_cache else None
        steps, folders = self.task.steps, self.task.folders
        asked = tuple(f"{need.who}: {need}" for need in self.task.limits.needs)
        self.runner = StepRunner(
            steps, self._config, self.workspace.staging, cache, folders, asked, self.task.frameworks
        )
        self._early = EarlySteps(self.runner, self.workspace.staging, steps)
        blueprint = str(self.task.description["file"])
        self.runner.made = {"model": self.name, "blueprint": blueprint, "output": str(self.workspace.output)}
        self.maker = MadeBy(_origin(self.name, blueprint, *self.task.golden), **self.runner.made)

    def prepare(self, verify: bool) -> None:
        """Read the golden data, refuse a model that becomes no circuit, and run the data through the input model.

        Steps get the golden inputs in any case.

        Raises:
            ModelError, BuildError: Nodes have no layers, or layers no backend or no RTL; all that are so.
        """
        golden = load_golden(
            self.source.peek(), *self.task.golden, changes_outputs=self.task.verify.changes_outputs
        )
        staging = self.workspace.staging
        self._config.verify_input_npy = inputs_file(self.task.golden[0], golden, staging)
        with self.listened(), self.maker:
            self._early.run(self.source)
        if not verify:
            return
        self._verification = BuildVerification(
            self.task, self.source, golden, self.runner.log, staging, self.use_cache
        )
        if self._verification.told:
            self._tell("check", 0, self._verification.told)

    def run(self) -> Artifact:
        """Run the steps; return the last model.

        Raises:
            BuildError: One failed.
        """
        model = self.source
        for number, step in enumerate(self.task.steps, 1):
            self._now = number, step.name
            with Current(STEP, step.name):
                self._tell("start", number, step.name)
                model = self._early.result(number) or self.runner.apply(step, model)
                self._check(number, step.name, model)
        self._now = len(self.task.steps), "report"
        return model

    @property
    def _results(self) -> list[StepResult]:
        """Return the results up to the step whose turn it is."""
        return self.runner.results[: self._now[0]]

    def _check(self, number: int, name: str, model: Artifact) -> None:
        """Checkpoint and verify what a step made."""
        self._now = number, f"verifying {name}"
        file = self.workspace.staging / checkpoint_name(number, name)
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(model.data)
        done = self.runner.results[number - 1]
        if self._verification is not None and self._verification.running:
            whole = number == len(self.task.steps)
            done.verified = self._verification.check(name, model, whole)
        self._reached = model
        self._tell("done", number, step_line(done, self.explain), done)

    @contextmanager
    def listened(self) -> Iterator[None]:
        """Let whoever started the build hear how far it is; what that raises ends it."""
        try:
            with nullcontext() if self.progress is None else Listening(self._tell_work):
                yield
        except _ListenerFailedError as failure:
            raise failure.error from None

    def _tell(self, kind: str, index: int, text: str, step: StepResult | None = None) -> None:
        if self.progress is not None:
            self.progress(Progress(kind, index, len(self.task.steps), text, step))

    def _tell_work(self, works: tuple[Work, ...]) -> None:
        """Tell how far a step is. What the listener prints, reads or raises is not counted as the step's."""
        listener = self.progress
        assert listener is not None
        index, name = self._now
        text = f"{name}: {'; '.join(map(str, works))}"
        event = Progress("work", index, len(self.task.steps), text, works=works)
        try:
            with self.runner.log.aside():
                RUNNING.aside(lambda: listener(event))
        except Exception as error:
            raise _ListenerFailedError(error) from error

    def finish(self, last: Artifact) -> BuildResult:
        """Write the last model and the report."""
        staging, output = self.workspace.staging, self.workspace.output
        (staging / "model.onnx").write_bytes(last.data)
        cache = self.runner.cache
        if cache is not None and not all(step.reused for step in self.runner.results):
            cache.trim()  # a build that stored nothing cannot have made it too large
        compared = self._compare_targets(last) if self.page else None
        if self._verification is not None:
            self._verification.device.save()
        wave = self._wave(last) if self.page else None
        content = self._report(last, compared, wave)
        _state_proof(staging, content)
        steps, warnings = tuple(self.runner.results), tuple(content["warnings"])
        explanations = tuple(f"{step.name}: {step.cache}" for step in steps)
        found = dict.fromkeys(path for _, path in self._files_read())
        outside, read = (
            self.runner.outside,
            tuple(one for one in found if one != self.name or Path(one).exists()),
        )
        first = self.runner.first_run
        return BuildResult(
            output, output / "model.onnx", content, steps, warnings, explanations, outside, read, first
        )

    def state_provenance(self, folder: Path) -> None:
        """Write what a folder of results was made of, and what is in it."""
        used = {step.record.reference for step in self.task.steps if step.record is not None}
        plugins = [
            one for one in plugin_list(self.task.registry, self.task.steps) if one["reference"] in used
        ]
        parameters = {name: self.task.description.get(name) for name in _STATED}
        packages = (*PACKAGES.values(), *LIBRARIES)
        inputs = BuildInputs(parameters, self.source.data, self._files_read(), packages, _TOOLS, plugins)
        write_provenance(folder, inputs)

    def _files_read(self) -> Iterator[tuple[str, str]]:
        """Yield what each file is that the build read, and its path."""
        blueprint = self.task.description
        roles = ("inputs to verify with", "labels", "expected outputs", "outputs of floats")
        blueprints = [("blueprint", file) for file in blueprint.get("files") or ()]
        blueprints += [("lock", file) for file in [blueprint.get("lock")] if file]
        given = [("model file", self.name), *blueprints, *zip(roles, self.task.golden, strict=True)]
        named = [(what, str(path)) for what, path in given if isinstance(path, str | Path)]
        known = {_real(path) for _, path in named}
        yield from named
        for path in sorted(self.runner.outside.files):
            if _real(path) not in known:
                yield "read by a step", path

    def _compare_targets(self, last: Artifact) -> dict[str, Any] | None:
        """Compare the model on the targets, or take the comparison that is kept; None if nothing is verified."""
        if self._verification is None or not self._verification.running:
            return None
        from brainsmith.build.target_comparison import KeptComparison, compare_for_report, warnings_of

        targets, inputs = self._affordable_targets(), self._verification.inputs
        model, after = self._verification.exact
        kept = KeptComparison(self.task.cache_folder.parent, model, targets)
        fingerprint = self.runner.fingerprint(last)
        found = kept.load(fingerprint, inputs) if fingerprint is not None else None
        if found is None:
            with self.runner.log.taken("comparison of targets"):
                found = compare_for_report(targets, model, inputs, self.workspace.staging, after)
            if found is not None and fingerprint is not None:
                kept.save(fingerprint, inputs, found)
        if found is not None:
            found["named"] = self.task.targets_named
        self.warnings += warnings_of(found)
        return found

    def _affordable_targets(self) -> tuple[PluginInfo, ...]:
        """Return the targets to compare; a circuit that was simulated in parts runs only where the blueprint names it."""
        from brainsmith.build.target_comparison import CIRCUIT

        targets = self.task.targets
        if self.task.targets_named or not in_parts(self.workspace.staging):
            return targets
        return tuple(info for info in targets if info.qualified != CIRCUIT)

    def _wave(self, last: Artifact) -> dict[str, Any] | None:
        """Draw the handshakes of a frame, where the circuit was simulated and packed."""
        from brainsmith.build.wave_picture import wave_for_report

        kept = self.runner.fingerprint(last), self.task.cache_folder.parent
        with self.runner.log.taken("picture of a frame"):
            return wave_for_report(self.workspace.staging, *kept)

    def report_failure(self, error: BuildError, message: str) -> None:
        """Write the report of a build that failed: what there was until then, and the error."""
        try:
            self._report(None, error={"step": error.step or None, "message": message})
        except BuildError:  # a step's own report cannot be read, which is perhaps what failed
            self._report(None, error={"step": error.step or None, "message": message}, read=False)

    def _report(
        self,
        last: Artifact | None,
        targets: dict[str, Any] | None = None,
        wave: dict[str, Any] | None = None,
        error: dict[str, Any] | None = None,
        read: bool = True,
    ) -> dict[str, Any]:
        """Write `report.json` and perhaps `report.html`; return what they say.

        Raises:
            BuildError: What a step reported cannot be read; not if `read` is False, which leaves it out.
        """
        staging, verification = self.workspace.staging, self._verification
        verified: dict[str, Any] = {} if verification is None else verification.reported()
        found = self._step_reports(verified.get("accuracy"), wave) if read else {"layers": []}
        report = Report(
            build_id=BUILD.get(),
            model=described(self.name, self.source),
            blueprint=self.task.description,
            plugins=plugin_list(self.task.registry, self.task.steps),
            modules=imported_modules(self.task.registry),
            steps=self._results,
            **found,
            **verified,
            targets=targets,
            strict=self.task.strict,
            warnings=self.warnings
            + self.runner.warnings
            + ((found.get("synthesis") or {}).get("clock") or {}).get("warnings", [])
            + ([] if verification is None else verification.device.warnings),
            graphs=graphs_of(self.source, last or self._reached) if self.page else None,
            files=files_of(staging),
            error=error,
        )
        content = report.to_plain()
        if self.page:
            from brainsmith.web.page import render

            picture = (staging / wave["file"]).read_text("utf-8") if wave and wave["file"] else ""
            render(content, staging / PAGE, picture)
        (staging / "report.json").write_text(json.dumps(content, indent=2, default=str) + "\n")
        return content

    def _step_reports(self, accuracy: dict[str, Any] | None, wave: dict[str, Any] | None) -> dict[str, Any]:
        """Return what the steps reported, by the keys of `report.json`, and what follows from it."""
        staging, clock = self.workspace.staging, self._config.synth_clk_period_ns
        layers, estimate = read_estimates(staging, clock)
        rtl, synthesis = read_circuit(staging, accuracy), read_synthesis(staging, layers)
        if rtl is not None:
            rtl["compared_with"] = compared_with(self._verification, self._results)
            rtl["wave"] = wave
        return {
            "layers": layers,
            "integers": read_integers(staging),
            "estimate": estimate,
            "rtl": rtl,
            "synthesis": synthesis,
            "fit": read_report(staging / FIT),
            "device": device_use(self.task.device, synthesis, estimate, layers),
            "rate": rate_of(estimate, rtl, clock, self.task.description["target"]["fps"]),
        }

    def share_results(self) -> None:
        """Let other machines have what the steps made, as far as that takes no time to speak of."""
        if self.runner.cache is not None:
            self.runner.cache.share()

    def explain_failure(self, error: BuildError) -> str:
        """Return the message of a failed build: what, after which steps, and where the last good model is."""
        staging, failed = self.workspace.staging, self.workspace.failed
        self._early.discard()
        text = explained(error, [step.name for step in self._results], failed, said=(staging / LOG).is_file())
        return text.replace(str(staging), str(failed))

    def interruption(self) -> str:
        """Return what to say about Ctrl-C."""
        done, total = len(self._results), len(self.task.steps)
        kept = "; the steps done are in the build cache" if done and self.runner.cache is not None else ""
        return f"build interrupted after {done} of {total} steps; {self.workspace.output} is as it was{kept}"


def _real(path: str) -> str:
    """Return where a file really lies; the path itself where the current folder, in which it begins, is gone."""
    try:
        return os.path.realpath(path)
    except FileNotFoundError:
        return path


def _state_proof(staging: Path, content: dict[str, Any]) -> None:
    """Let the packed accelerator, if there is one, say what the banner of the report says, and name the model's ends."""
    if not (staging / PACKAGE).is_dir():
        return
    from brainsmith.rtl.package.proof import name_ends, state_proof
    from brainsmith.web.step_result import read_steps
    from brainsmith.web.verdict import judge

    verdict = judge(content, read_steps(content))
    name_ends(staging / PACKAGE, content["model"]["inputs"], content["model"]["outputs"])
    state_proof(staging / PACKAGE, verdict.title, verdict.sentence, verdict.points)


def _origin(*given: object) -> dict[str, str]:
    """Return digests of those of a build's inputs that are files, by path."""
    files = [Path(one).resolve() for one in given if isinstance(one, (str, Path)) and Path(one).is_file()]
    return {str(file): file_digest(str(file)) for file in files}
