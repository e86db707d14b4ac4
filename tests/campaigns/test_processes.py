"""Campaigns in several processes, some of which are killed."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import distributed
import numpy as np
import pytest

import swelltree as sw
from made_campaign import small_campaign
from swelltree.campaigns import campaign as campaigns
from swelltree.campaigns import pool, work
from swelltree.campaigns import pool as quiet
from swelltree.campaigns.pool import read_certificate, write_certificate

TESTS = str(Path(__file__).parents[1])
DRIVER = """
import sys
sys.path.insert(0, {tests!r})
from made_campaign import small_campaign
import swelltree as sw
small_campaign({changes}).run({folder!r}, resume=True, workers={workers})
"""
MANY = "vary=[sw.Values('Hs', [1.0, 2.0]), sw.Seeds({seeds})], lanes=2, duration=200.0"


def equal(a, b):
    numbers = [n for n in a.data_vars if a[n].dtype.kind == "f" and n != "seconds"]
    return all(np.array_equal(a[n].values, b[n].values, equal_nan=True) for n in numbers)


def driver(folder, workers=0, **changes):
    """A process of its own that runs the small campaign."""
    code = DRIVER.format(tests=TESTS, changes=f"**{changes!r}", folder=str(folder), workers=workers)
    return subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)


def blocks(folder):
    return len(list((folder / "index").glob("*.json"))) if (folder / "index").exists() else 0


def wait_for(condition, seconds=240.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


def test_two_processes_of_which_one_is_killed_give_the_same_bits(tmp_path):
    from distributed import LocalCluster

    campaign = small_campaign(lanes=2)
    here = campaign.run(tmp_path / "here", workers=0)
    killed, addresses = [], []

    def kill():
        # the first process that finished something
        wait_for(lambda: blocks(tmp_path / "two") >= 1)
        for cluster in list(LocalCluster._instances):
            addresses.extend([cluster.scheduler_address, *cluster.scheduler_info["workers"]])
            for worker in cluster.workers.values():
                if worker.pid and not killed:
                    os.kill(worker.pid, signal.SIGKILL)
                    killed.append(worker.pid)

    hand = threading.Thread(target=kill)
    hand.start()
    two = campaign.run(tmp_path / "two", workers=2)
    hand.join()
    assert killed
    assert len(addresses) == 3
    assert all(address.startswith("tls://127.0.0.1:") for address in addresses)
    assert "PYTHONSAFEPATH" not in os.environ  # as before
    assert two.attrs["cases_done"] == 12
    assert equal(here, two)


def test_the_only_process_is_killed_and_its_successor_goes_on(tmp_path):
    """The model dies with the process that held it, and is made again from what was sent."""
    from distributed import LocalCluster

    folder, killed = tmp_path / "one", []

    def kill():
        wait_for(lambda: blocks(folder) >= 1)
        for cluster in list(LocalCluster._instances):
            killed.extend(worker.pid for worker in cluster.workers.values())
        for process in killed:
            os.kill(process, signal.SIGKILL)

    hand = threading.Thread(target=kill)
    hand.start()
    result = small_campaign(lanes=1, duration=200.0).run(folder, workers=1)
    hand.join()
    assert len(killed) == 1
    assert (result.attrs["cases_done"], result.attrs["cases_failed"]) == (12, 0)


def test_a_process_of_another_version_stops_the_campaign_and_fails_no_case(tmp_path, monkeypatch):
    class OtherVersion(pool.Here):
        """This process, but what it gets was packed by another version."""

        def __init__(self, planned, names):
            super().__init__(planned, names)
            with monkeypatch.context() as patch:
                patch.setattr(work, "own_text", lambda: "another")
                content = work.packed(planned, names)
            self._run = lambda job: work.run_block(content, list(job.cases), job.first)

    monkeypatch.setattr(pool, "Here", OtherVersion)
    with pytest.raises(sw.SwelltreeError, match=r"has another version of swelltree than the dri"):
        small_campaign().run(tmp_path / "store", workers=0)
    assert blocks(tmp_path / "store") == 0


def test_a_process_that_cannot_read_the_model_says_what_it_lacks():
    import pickle

    content = pickle.dumps((work.own_text(), b"cnot_there\nlaw\n."))
    with pytest.raises(work.UnfitProcess, match=r"cannot read the model .* 'not_there'.*Install"):
        work.unpacked(content)


def test_a_killed_driver_is_followed_by_one_that_finishes(tmp_path):
    folder = tmp_path / "store"
    first = driver(folder, lanes=1)
    wait_for(lambda: blocks(folder) >= 2 or first.poll() is not None)
    first.kill()
    first.wait()
    there = blocks(folder)
    before = {f: f.stat().st_mtime_ns for f in (folder / "index").glob("*.json")}
    result = small_campaign(lanes=1).run(folder, resume=True, workers=0)
    assert result.attrs["cases_done"] == 12
    assert 2 <= there <= 12
    assert all(f.stat().st_mtime_ns == t for f, t in before.items())  # nothing was run again


@pytest.mark.slow
def test_twenty_interruptions_lose_nothing_and_run_nothing_twice(tmp_path):
    seeds = 60
    folder = tmp_path / "store"
    many = MANY.format(seeds=seeds)
    code = DRIVER.format(tests=TESTS, changes=many, folder=str(folder), workers=2)
    rng = random.Random(4)
    for _ in range(20):
        process = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
        time.sleep(rng.uniform(1.0, 12.0))
        kind = rng.choice(["driver", "group", "interrupt"])
        if process.poll() is None:
            if kind == "driver":
                process.kill()
            else:
                which = signal.SIGKILL if kind == "group" else signal.SIGINT
                os.killpg(process.pid, which)
        process.wait(timeout=120)
    vary = [sw.Values("Hs", [1.0, 2.0]), sw.Seeds(seeds)]
    campaign = small_campaign(vary=vary, lanes=2, duration=200.0)
    result = campaign.run(folder, resume=True, workers=0)
    assert result.attrs["cases_done"] == 2 * seeds
    ids = result["case_id"].values.ravel()
    assert len(set(ids)) == 2 * seeds
    assert blocks(folder) == seeds
    assert equal(result, campaign.run(tmp_path / "whole", workers=0))


def tls(folder):
    """How a scheduler or a worker is given the certificate of a cluster."""
    file = str(folder / "cluster.pem")
    return ["--tls-ca-file", file, "--tls-cert", file, "--tls-key", file]


@contextlib.contextmanager
def cluster_elsewhere(folder, workers):
    """A scheduler and workers that are processes of their own: its address and all of them."""
    file = folder / "scheduler.json"
    python, quiet = [sys.executable, "-m"], {"stderr": subprocess.DEVNULL}
    ours = ["--scheduler-file", str(file), "--no-dashboard", *tls(folder)]
    here = ["--host", "127.0.0.1", "--port", "0", "--protocol", "tls"]
    write_certificate(folder / "cluster.pem")
    scheduler = [*python, "distributed.cli.dask_scheduler", *ours, *here]
    processes = [subprocess.Popen(scheduler, **quiet)]
    worker = [*python, "distributed.cli.dask_worker", *ours, "--nthreads", "1"]
    alone = ["--no-nanny", "--death-timeout", "60", "--local-directory", str(folder)]
    for k in range(workers):
        processes.append(subprocess.Popen([*worker, *alone, "--name", f"w{k}"], **quiet))
    try:
        # it is there before its text
        wait_for(lambda: file.exists() and file.read_text().endswith("}"))
        address = json.loads(file.read_text())["address"]
        if workers:
            security = read_certificate(folder / "cluster.pem")
            with distributed.Client(address, security=security) as client:
                client.wait_for_workers(workers, timeout=120)
        yield address, processes
    finally:
        for process in reversed(processes):
            process.kill()
            process.wait(timeout=30)


@pytest.mark.slow
def test_workers_of_a_scheduler_elsewhere_give_the_same_bits(tmp_path):
    campaign = small_campaign(lanes=2)
    with cluster_elsewhere(tmp_path, workers=3) as (address, _):
        far = campaign.run(
            tmp_path / "far", scheduler=address, certificate=tmp_path / "cluster.pem"
        )
    assert equal(far, campaign.run(tmp_path / "here", workers=0))


@pytest.mark.slow
def test_workers_that_come_late_are_waited_for_and_used(tmp_path):
    """As jobs of a queue come: none at first, then one, then another."""
    campaign, folder = small_campaign(lanes=1, duration=200.0), tmp_path / "store"
    with cluster_elsewhere(tmp_path, workers=0) as (address, processes):
        worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1"]
        alone = [*worker, *tls(tmp_path), "--no-nanny", "--local-directory", str(tmp_path)]

        def come():
            time.sleep(3.0)
            for _ in range(2):
                processes.append(subprocess.Popen(alone, stderr=subprocess.DEVNULL))
                wait_for(lambda: blocks(folder) >= 1)

        hand = threading.Thread(target=come)
        hand.start()
        with pytest.warns(sw.SwelltreeWarning, match="has no workers yet; waiting for the first"):
            late = campaign.run(folder, scheduler=address, certificate=tmp_path / "cluster.pem")
        hand.join()
    assert equal(late, campaign.run(tmp_path / "here", workers=0))


def test_processes_leave_the_keyboard_to_the_driver():
    before = signal.getsignal(signal.SIGINT)
    try:
        quiet.dask_setup(None)
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    ("count", "processes", "expected"),
    [
        (600, 2, 32),  # as many as one core runs at most
        (600, 16, 8),  # 75 blocks: every process has four at least
        (12, 16, 8),  # a register is not divided
        (600, None, 32),  # processes of a cluster are not counted before they come
        (600, 0, 600),  # this process has all cores
    ],
)
def test_blocks_are_so_small_that_each_process_has_some(monkeypatch, count, processes, expected):
    monkeypatch.setattr(pool, "lane_width", lambda: 8)
    assert pool.cases_per_block(count, processes) == expected


def test_a_machine_of_many_cores_has_blocks_for_all_its_processes(tmp_path, monkeypatch):
    """Sixteen cores and 200 cases, which one batch of the whole machine would hold."""
    monkeypatch.setattr(os, "cpu_count", lambda: 16)
    monkeypatch.setattr(campaigns, "cores", lambda: 16)
    requested = []

    def no_pool(planned, names, jobs, **_):
        requested.append((planned.plan.lanes, jobs))
        raise KeyboardInterrupt

    monkeypatch.setattr(campaigns, "open_pool", no_pool)
    campaign = small_campaign(vary=[sw.Seeds(200)], lanes=None, device="cpu")
    with pytest.raises(KeyboardInterrupt):
        campaign.run(tmp_path / "store")
    lanes, jobs = requested[0]
    assert jobs >= 16
    assert lanes * jobs >= 200


def test_room_grows_with_the_processes_of_a_cluster():
    """A client that counts; nothing is run."""
    cluster = object.__new__(pool.Cluster)
    cluster._client = SimpleNamespace(status="running", nthreads=lambda: {"a": 1})
    cluster._workers, cluster._counted = 0, -pool.COUNTED
    assert cluster.room == pool.AHEAD
    cluster._client.nthreads = lambda: dict.fromkeys("abcd", 1)
    assert cluster.room == pool.AHEAD  # not asked at every job
    cluster._counted -= 2 * pool.COUNTED
    assert cluster.room == 4 * pool.AHEAD


def test_a_scheduler_without_workers_is_told_once_and_so_is_their_return():
    """A client that counts, and jobs that wait; nothing is run."""
    cluster, said, there = object.__new__(pool.Cluster), [], {}
    cluster._client = SimpleNamespace(status="running", nthreads=lambda: there)
    cluster._scheduler, cluster._say, cluster._left = "tcp://a:1", said.append, False
    cluster._jobs, cluster._certificate = dict.fromkeys("abc"), None
    cluster._workers = 1

    def looked(times):
        for _ in range(times):
            cluster._counted = -pool.COUNTED
            cluster._warn_if_left()

    gone = (
        "scheduler 'tcp://a:1' has no workers any more since .*; 3 blocks wait .* Start some: .*d"
    )
    with pytest.warns(sw.SwelltreeWarning, match=gone) as reported:
        looked(2)
    assert len(reported) == 1
    assert not said
    there["b"] = 1
    looked(2)
    assert said == ["scheduler 'tcp://a:1' has workers again; going on."]
    there.clear()
    with pytest.warns(sw.SwelltreeWarning, match=gone):
        looked(1)


def test_a_scheduler_that_goes_before_a_worker_came_is_told():
    def wait(count):
        raise OSError("Timed out")

    cluster = object.__new__(pool.Cluster)
    cluster._client = SimpleNamespace(nthreads=dict, wait_for_workers=wait)
    cluster._certificate = None
    with (
        pytest.warns(sw.SwelltreeWarning, match="has no workers yet"),
        pytest.raises(sw.SwelltreeError, match="the Dask scheduler is not reachable"),
    ):
        cluster._wait_for_workers("tcp://a:1")


def test_a_scheduler_that_goes_while_it_is_asked_is_told():
    def ask():
        raise OSError("closed")

    cluster = object.__new__(pool.Cluster)
    cluster._client = SimpleNamespace(status="running", nthreads=ask)
    cluster._counted = -pool.COUNTED
    with pytest.raises(sw.SwelltreeError, match="the Dask scheduler is not reachable"):
        cluster.room  # noqa: B018


def test_a_scheduler_that_goes_before_it_sends_a_result_is_reported():
    """It has reported the job as finished; the connection closes while the result is fetched."""

    def result():
        raise OSError("Stream is closed")

    future = SimpleNamespace(key="one", cancelled=lambda: False, exception=lambda: None)
    future.result = result
    cluster = object.__new__(pool.Cluster)
    cluster._client, cluster._scheduler = SimpleNamespace(status="running"), None
    cluster._jobs, cluster._ended = {"one": "job"}, iter([future])
    with pytest.raises(sw.SwelltreeError, match=r"scheduler is not reachable.*--resume"):
        cluster.next()


@pytest.mark.slow
def test_workers_that_all_die_are_told_and_their_successors_finish(tmp_path, capfd):
    """As where jobs of a queue come to the end of their time."""
    campaign, folder = small_campaign(lanes=1, duration=400.0), tmp_path / "store"
    with cluster_elsewhere(tmp_path, workers=2) as (address, processes):
        worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1"]

        def kill_and_follow():
            wait_for(lambda: blocks(folder) >= 1)
            for process in processes[1:]:
                process.kill()
            there = blocks(folder)
            time.sleep(2.0 * pool.COUNTED)
            assert blocks(folder) <= there + 1
            alone = [*worker, *tls(tmp_path), "--no-nanny", "--local-directory", str(tmp_path)]
            processes.append(subprocess.Popen(alone, stderr=subprocess.DEVNULL))

        hand = threading.Thread(target=kill_and_follow)
        hand.start()
        with pytest.warns(sw.SwelltreeWarning, match="has no workers any more since") as reported:
            result = campaign.run(folder, scheduler=address, certificate=tmp_path / "cluster.pem")
        hand.join()
    assert sum("no workers any more" in str(one.message) for one in reported) == 1
    assert capfd.readouterr().err.count("has workers again; going on") == 1
    assert result.attrs["cases_done"] == 12
    assert equal(result, campaign.run(tmp_path / "here", workers=0))


@pytest.mark.slow
def test_the_keyboard_stops_a_driver_that_waits_for_workers(tmp_path):
    folder = tmp_path / "store"
    with cluster_elsewhere(tmp_path, workers=1) as (address, processes):
        code = DRIVER.format(
            tests=TESTS,
            changes="lanes=1, duration=400.0",
            folder=str(folder),
            workers=f"None, scheduler={address!r}, certificate={str(tmp_path / 'cluster.pem')!r}",
        )
        command = [sys.executable, "-c", code]
        driver = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        wait_for(lambda: blocks(folder) >= 1)
        processes[1].kill()
        reported = iter(driver.stderr.readline, "")
        assert any("has no workers any more" in line for line in reported)
        driver.send_signal(signal.SIGINT)
        assert driver.wait(timeout=60) != 0
    assert not (folder / "lock.json").exists()
    result = small_campaign(lanes=1, duration=400.0).run(folder, resume=True, workers=0)
    assert result.attrs["cases_done"] == 12


def test_a_killed_scheduler_is_told_and_only_what_is_missing_is_run(tmp_path):
    """Killed as soon as something is in the store; the blocks that are there stay."""
    folder, campaign = tmp_path / "store", small_campaign(lanes=1, duration=400.0)
    with cluster_elsewhere(tmp_path, workers=1) as (address, processes):

        def kill():
            wait_for(lambda: blocks(folder) >= 1)
            processes[0].kill()

        hand = threading.Thread(target=kill)
        hand.start()
        with pytest.raises(
            sw.SwelltreeError, match=r"scheduler is not reachable.*continue with --resume"
        ):
            campaign.run(folder, scheduler=address, certificate=tmp_path / "cluster.pem")
        hand.join()
    there = {f: f.stat().st_mtime_ns for f in (folder / "index").glob("*.json")}
    assert 1 <= len(there) < 12
    result = campaign.run(folder, resume=True, workers=0)
    assert result.attrs["cases_done"] == 12
    assert all(f.stat().st_mtime_ns == t for f, t in there.items())  # nothing was run again
    assert equal(result, campaign.run(tmp_path / "whole", workers=0))


def test_a_scheduler_that_is_not_there_is_told(tmp_path, monkeypatch):
    import distributed

    true = distributed.Client

    def quick(address, timeout=None, security=None):
        return true(address, timeout=1, security=security)

    monkeypatch.setattr(distributed, "Client", quick)
    with pytest.raises(sw.SwelltreeError, match=r"scheduler 'tcp://127.0.0.1:9' does not answer"):
        small_campaign().run(tmp_path / "store", scheduler="tcp://127.0.0.1:9", insecure=True)


def test_a_negative_number_of_processes_is_told(tmp_path):
    with pytest.raises(sw.SwelltreeError, match="workers -1 is not a whole number of at least 0"):
        small_campaign().run(tmp_path / "store", workers=-1)
    assert not (tmp_path / "store").exists()
