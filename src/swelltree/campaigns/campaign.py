"""`Campaign`: a model, a sea, what varies, what is kept; run into a store that can be continued."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import numpy as np

from swelltree.campaigns.cases import (
    CaseTable,
    case_id,
    case_table,
    check_dims,
    check_numbers,
    check_table,
    check_vary,
    check_version,
    code,
    created_folder,
    report_each_once,
    sea_states,
)
from swelltree.campaigns.drive import Driver, Lanes, Progress, worth_retrying
from swelltree.campaigns.opened import open_campaign
from swelltree.campaigns.pool import Job, cases_per_block, open_pool, scheduler_security
from swelltree.campaigns.store import DriverLock, Store, campaign_key
from swelltree.campaigns.vary import Vary
from swelltree.describe.environment.seas import Sea
from swelltree.describe.errors import SwelltreeError, listed, suggest, warn_user
from swelltree.describe.files.atomic import user_path
from swelltree.describe.options import (
    DEVICES,
    PRECISIONS,
    STARTS,
    CampaignOptions,
    Sampling,
    dataclass_with,
    options_of,
)
from swelltree.describe.values import NamedValues
from swelltree.jit import cores
from swelltree.model.model import Model
from swelltree.results.cases.reductions import check_reductions
from swelltree.results.dataset import provenance
from swelltree.studies.batch.batch import BatchPlan, blank_block, plan_batch
from swelltree.studies.batch.cases import CaseMaker
from swelltree.studies.options import check_model
from swelltree.studies.time.simulate import simulate

if TYPE_CHECKING:
    import xarray as xr

TRIED = 256  # cases that a check makes
BLOCK_OF_GPU = 16_384  # cases: more are no faster, and a block that is cut off is run again


@dataclass_with(CampaignOptions)
class Campaign:
    """Many cases of one model.

    Args:
        model: from `compile`.
        vary: what varies: `Values`, `Together`, `ScatterDiagram`, `Seeds`, `Sample`; the cases are
            the product of all of them.
        sea: of the base; what varies changes its numbers.
        name: of the campaign.
        text: of the file it was read from, for provenance.
    """

    model: Model
    vary: Sequence[Vary]
    sea: Sea | None = None
    name: str = "campaign"
    text: str = ""

    if TYPE_CHECKING:

        def __init__(
            self,
            model: Model,
            vary: Sequence[Vary],
            sea: Sea | None = None,
            name: str = "campaign",
            text: str = "",
            **options: Unpack[CampaignOptions],
        ) -> None: ...

    def __post_init__(self) -> None:
        check_model(self.model, "campaign")
        check_vary(self.vary, self.name)
        options = self.options
        check_numbers(
            self.name,
            seconds={word: options[word] for word in ("duration", "output_step", "step")},
            counts={"retries": (options["retries"], 0), "lanes": (options["lanes"], 1)},
        )
        words = (("device", DEVICES), ("precision", PRECISIONS), ("start", (None, *STARTS)))
        for word, known in words:
            value = options[word]
            if value not in known:
                known = tuple(name for name in known if name)
                raise SwelltreeError(
                    f"campaign '{self.name}': {word} '{value}' is not known."
                    f"{suggest(value, known)} Give {listed(known)}."
                )
        if options["precision"] == "float32" and options["device"] != "gpu":
            raise SwelltreeError(
                f"campaign '{self.name}': precision 'float32' is for device 'gpu'. Give it too, or "
                "leave both."
            )
        check_reductions(options["reduce"], f"campaign '{self.name}'")
        with report_each_once():
            check_table(self.table, self.sea, self.model)

    @property
    def options(self) -> NamedValues:
        """All options by name."""
        return {name: getattr(self, name) for name in options_of(CampaignOptions)}

    @property
    def table(self) -> CaseTable:
        """All cases."""
        return case_table(self.vary)

    @property
    def key(self) -> str:
        """Hash of all that the numbers of a case depend on, besides those that vary."""
        options = self.options
        numbers = tuple(options[x] for x in ("duration", "output_step", "step", "tolerance"))
        stored = tuple(options["channels"] or ()), tuple(options["reduce"])
        words = tuple(options[x] for x in ("formulation", "start", "precision"))
        return campaign_key(self.model, self.sea, numbers, stored, words)

    def build_failure(self) -> dict[str, str]:
        """Why cases have no result before a step is taken, by what they are.

        Tried are cases that together hold every value of every column, as many as are quickly
        made: a heading or a frequency outside the data, a number that no model can have.
        """
        table, maker = self.table, CaseMaker(self.model, self.options["duration"])
        found: dict[str, str] = {}
        for k in table.samples(TRIED):
            try:
                maker.in_sea(table.case(k, self.sea))
            except SwelltreeError as error:
                words = (f"{name} = {value:g}" for name, value in table.row(k).items())
                found[", ".join(words)] = str(error)
        return found

    def run(
        self,
        folder: str | Path,
        *,
        resume: bool = False,
        retry_failed: bool = False,
        workers: int | None = None,
        scheduler: str | None = None,
        progress: bool = True,
        certificate: str | Path | None = None,
        insecure: bool = False,
    ) -> xr.Dataset:
        """Run all cases that the store does not have, and open it.

        Args:
            folder: of the store.
            resume: continue an existing store.
            retry_failed: continue it, and repeat failed cases, each three times at most: after
                their cause was fixed.
            workers: processes on this machine; one per core by default, 0 for this process.
            scheduler: address of a Dask scheduler, tls://host:port.
            progress: show a progress bar; where stderr is not a terminal, at most a line a minute.
            certificate: file of mode 600 that the scheduler and its workers have, too, made by
                `swelltree certificate`.
            insecure: accept a scheduler without a certificate (tcp://), which runs the code of
                anybody who can connect to it: for private networks.
        """
        check_numbers(self.name, seconds={}, counts={"workers": (workers, 0)})
        store, table = Store(user_path(folder, "store")), self.table
        if store.exists and not (resume or retry_failed):
            raise SwelltreeError(
                f"'{folder}' already holds a campaign. Continue it with --resume, or name another "
                "folder."
            )
        if workers is not None and scheduler is not None:
            raise SwelltreeError(
                f"workers {workers} are processes of this machine, and scheduler '{scheduler}' has "
                "its own. Give one of them."
            )
        if scheduler is None and (certificate is not None or insecure):
            raise SwelltreeError(
                "certificate and insecure belong to a scheduler elsewhere; processes of this "
                "machine have a certificate of their own. Give a scheduler, or leave them out."
            )
        if scheduler is not None:
            scheduler_security(scheduler, certificate, insecure)
        with created_folder(store.folder), DriverLock(store.folder):
            with report_each_once() as reported:
                processes = 0 if workers == 0 else None if scheduler else workers or cores()
                planned, lanes = self._stored_plan(store, table, processes)
                blank = blank_block(planned, tuple(self.options["reduce"]))
                check_dims(table, blank)
                store.create(self._about(table, planned, lanes), blank)
            where: NamedValues = {"workers": workers, "scheduler": scheduler}
            where |= {"certificate": certificate, "insecure": insecure}
            how = (retry_failed, where, progress)
            self._drive(store, table, planned, lanes, blank, reported, *how)
        result = open_campaign(folder)
        failed = int(result.attrs["cases_failed"])
        if failed:
            bad = result["message"].values
            first = next(str(text) for text in bad.ravel() if text)
            warn_user(f"{failed} of {len(table)} cases failed. The first error is: {first}")
        return result

    def replay(self, case: str) -> xr.Dataset:
        """The whole run of one case, by `simulate`.

        Args:
            case: its name, as `case_id` of the results has it.
        """
        table, key = self.table, self.key
        names = table.ids(key)
        if case not in names:
            raise SwelltreeError(
                f"campaign '{self.name}' has no case '{case}'.{suggest(case, names)} The names are "
                "in `case_id` of the results, and on the page."
            )
        one = table.case(names.index(case), self.sea)
        model = self.model.with_values(dict(one.values)) if one.values else self.model
        stored = (*options_of(Sampling), "formulation", "start")
        return simulate(
            model,
            one.sea,
            **{name: self.options[name] for name in stored},
            case=one.case,
            provenance={"study_name": f"{self.name} {case}"},
        )

    def _stored_plan(
        self, store: Store, table: CaseTable, processes: int | None
    ) -> tuple[BatchPlan, int]:
        """How cases are run, as the store says or chosen now; and how many make a block.

        Args:
            store: that may be there.
            table: the cases.
            processes: with a core each; 0: this one with all; None: not known.
        """
        options = self.options
        block = 0
        attrs: NamedValues = {}
        if store.exists:
            about = store.about()
            differs = "" if table.is_reported_by(about) else "the table of cases"
            if about["key"] != self.key:
                differs = "the model, the sea or an option"
            if differs:
                raise SwelltreeError(
                    f"'{store.folder}' holds another campaign ('{about['name']}', "
                    f"{about['cases']} cases): {differs} was changed since. Name another folder, "
                    "or undo the change."
                )
            attrs = about["attrs"]
            check_version(store.folder, about)
            block, device = int(about["lanes"]), attrs.get("device", "cpu")
            if options["device"] not in ("auto", device):
                warn_user(
                    f"'{store.folder}' was begun with device '{device}' and continues with it, so "
                    "that all its cases are comparable. Name another folder for the other."
                )
            # what is left of a store of a GPU may have to fit elsewhere
            lanes = None if device == "gpu" else block
            options |= {"step": attrs.get("step"), "lanes": lanes, "device": device}
        cases = [table.case(k, self.sea) for k in table.extremes(8)]
        if options["device"] != "gpu":
            options["precision"] = "float64"
        planned = plan_batch(self.model, cases, options, count=len(table))
        plan = planned.plan
        if self.options["lanes"] is None and options["lanes"] is None:
            by_cores = cases_per_block(len(table), processes)
            most = by_cores if plan.device == "cpu" else BLOCK_OF_GPU
            planned = planned._replace(plan=replace(plan, lanes=min(plan.lanes, most)))
        errors = {k: x for k, x in attrs.items() if k in ("step_error", "precision_error")}
        return planned._replace(attrs=planned.attrs | errors), block or planned.plan.lanes

    def _about(self, table: CaseTable, planned: BatchPlan, lanes: int) -> NamedValues:
        """Attributes of the campaign that the store holds."""
        model = self.model
        attrs = provenance(model) | planned.attrs
        attrs |= {"study": "campaign", "campaign": self.name, "campaign_file": self.text}
        g = float(-np.asarray(model.gravity)[2])
        return {
            "name": self.name,
            "key": self.key,
            "code": code(),
            "lanes": lanes,
            **table.reported(),
            "sea": sea_states(table, self.sea, model.water, g),
            "attrs": attrs,
        }

    def _drive(
        self,
        store: Store,
        table: CaseTable,
        planned: BatchPlan,
        lanes: int,
        blank: xr.Dataset,
        reported: set[str],
        retry_failed: bool,
        where: NamedValues,
        progress: bool,
    ) -> None:
        """Run missing blocks, and failed cases of other blocks again."""
        count, key = len(table), self.key
        ids: Callable[[int], str] = lambda k: case_id(key, table.row(k))  # noqa: E731
        blocks = range(-(-count // lanes))
        there = {
            block: entry
            for block, entry in store.entries(len(blocks)).items()
            if set(entry["chunks"]) == set(blank.data_vars)
            and all(case["id"] == ids(block * lanes + k) for k, case in enumerate(entry["cases"]))
        }
        missing = [block for block in blocks if block not in there]
        again = {
            block: entry for block, entry in there.items() if retry_failed and worth_retrying(entry)
        }

        def jobs() -> Iterator[Job]:
            for block in missing:
                rows = range(block * lanes, min((block + 1) * lanes, count))
                yield Job(block, 0, tuple(table.case(k, self.sea) for k in rows))
            for block, entry in again.items():
                for lane in worth_retrying(entry):
                    yield Job(block, lane, (table.case(block * lanes + lane, self.sea),))

        stored = [case for k, entry in there.items() if k not in again for case in entry["cases"]]
        failed = sum(case["state"] == "failed" for case in stored)
        empty = {str(name): x.values[0].astype(float) for name, x in blank.data_vars.items()}
        with Progress(self.name, count, len(stored), failed, progress) as bar:
            retries = self.options["retries"]
            driver = Driver(store, lanes, empty, ids, retries, bar.notify)
            driver.warned |= reported
            driver.open |= {block: Lanes.of_store(store, entry) for block, entry in again.items()}
            pool = open_pool(
                planned,
                tuple(self.options["reduce"]),
                len(missing) + len(again),
                say=bar.say,
                **where,
            )
            with pool:
                driver.run(pool, jobs())
