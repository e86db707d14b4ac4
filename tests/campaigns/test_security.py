"""Who can give work to the processes of a sweep, and what these import."""

import json
import os
import subprocess
import sys
import textwrap

import distributed
import numpy as np
import pytest
from typer.testing import CliRunner

import swelltree as sw
from made_campaign import small_campaign
from support import PENDULUM
from swelltree.campaigns import pool
from swelltree.campaigns.pool import read_certificate, temporary_security, write_certificate
from swelltree.cli import app

POSIX = pytest.mark.skipif(not hasattr(os, "getuid"), reason="no users of this kind")
NOBODY = 65534
# what is needed is imported before the user is changed: the other user may not read Python itself
STRANGER = """
import json, os, sys
import distributed, distributed.comm.tcp, distributed.protocol.pickle, distributed.security
import cryptography.x509, cryptography.hazmat.primitives.asymmetric.rsa
import encodings.idna, multiprocessing.queues, concurrent.futures.thread
stolen = distributed.Security.temporary()
address, user, certificate = json.loads(sys.argv[1])
distributed.Client  # loaded
if user is not None:
    os.setgroups([]); os.setgid(user); os.setuid(user)
os.chdir("/")
said = {"user": os.getuid()}
try:
    open(certificate).close()
    said["certificate"] = "read"
except OSError as error:
    said["certificate"] = type(error).__name__
plain = address.replace("tls://", "tcp://")
tried = {"plain": (plain, None)}
tried["own certificate"] = (address.replace("tcp://", "tls://"), stolen)
for name, (where, security) in tried.items():
    try:
        given = {"security": security, "timeout": 4, "set_as_default": False}
        with distributed.Client(where, **given) as client:
            said[name] = client.run_on_scheduler(os.getpid)
    except Exception as error:
        said[name] = type(error).__name__
print(json.dumps(said))
"""


def stranger(address, user=None, certificate="/does/not/exist"):
    """What another process that knows the address can do, as another user where one is given."""
    words = json.dumps([address, user, str(certificate)])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", STRANGER, words],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def planned(tmp_path_factory):
    """What a pool is given, taken from a campaign."""
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "Here", lambda *specified: found.append(specified) or 1 / 0)
        with pytest.raises(ZeroDivisionError):
            small_campaign().run(tmp_path_factory.mktemp("plan") / "store", workers=0)
    return found[0]


KNOCK = """
import encodings.idna, json, os, socket, ssl, sys
address, user = json.loads(sys.argv[1])
host, port = address.split("//")[1].split(":")
if user is not None:
    os.setgroups([]); os.setgid(user); os.setuid(user)
said = {"user": os.getuid()}
context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
for name in ("plain", "without certificate"):
    try:
        with socket.create_connection((host, int(port)), timeout=5) as wire:
            if name != "plain":
                wire = context.wrap_socket(wire)
            wire.sendall(bytes(8) if name == "plain" else b"")
            said[name] = len(wire.recv(100))  # a scheduler begins by saying what it is
    except OSError as error:
        said[name] = type(error).__name__
print(json.dumps(said))
"""


def knock(address):
    """What a scheduler says first to another user, who has no certificate."""
    words = json.dumps([address, NOBODY])
    done = subprocess.run([sys.executable, "-c", KNOCK, words], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@POSIX
def test_a_scheduler_says_nothing_to_another_user():
    if os.getuid() != 0:
        pytest.skip("only root can be another user")
    options = {"n_workers": 0, "processes": False, "dashboard_address": None}
    security = temporary_security()
    with distributed.LocalCluster(**options, protocol="tls", security=security) as cluster:
        said = knock(cluster.scheduler_address)
        with distributed.Client(cluster) as client:  # who has it is let in
            assert client.run_on_scheduler(os.getpid) == os.getpid()
    assert said["user"] == NOBODY
    assert said["plain"] in (0, "ConnectionResetError", "TimeoutError")
    assert said["without certificate"] in (0, "SSLError", "ConnectionResetError")
    with distributed.LocalCluster(**options, protocol="tcp", host="127.0.0.1") as cluster:
        assert knock(cluster.scheduler_address)["plain"] > 0  # so it was before


@POSIX
@pytest.mark.slow
def test_another_user_of_the_machine_is_refused_by_the_processes_of_a_sweep(planned):
    with pool.Cluster(*planned, workers=1) as cluster:
        address = cluster._client.scheduler.address
        assert address.startswith("tls://127.0.0.1:")
        workers = cluster._client.scheduler_info()["workers"]
        here = stranger(address)
        # and the processes themselves, which take work from others, too
        there = [stranger(where) for where in workers]
        refused = [here, *there]
        if os.getuid() == 0:
            refused.append(stranger(address, user=NOBODY))
        assert cluster._client.submit(int, "3").result() == 3
    for said in refused:
        assert not isinstance(said["plain"], int), said
        assert not isinstance(said["own certificate"], int), said


@POSIX
@pytest.mark.slow
def test_the_stranger_runs_code_where_nothing_refuses_it():
    """The same attempt on a scheduler without a certificate, so that the test above can fail."""
    if os.getuid() != 0:
        pytest.skip("only root can be another user")
    options = {"n_workers": 0, "processes": False, "dashboard_address": None}
    with distributed.LocalCluster(**options, host="127.0.0.1", protocol="tcp") as cluster:
        said = stranger(cluster.scheduler_address, user=NOBODY)
    assert said["user"] == NOBODY
    assert said["plain"] == os.getpid()


def test_a_certificate_is_for_its_owner_alone(tmp_path):
    file = tmp_path / "cluster.pem"
    run = CliRunner().invoke(app, ["certificate", str(file)])
    assert run.exit_code == 0, run.output
    assert file.stat().st_mode & 0o777 == 0o600
    assert read_certificate(file).require_encryption
    with pytest.raises(sw.SwelltreeError, match="exists already"):
        write_certificate(file)
    file.chmod(0o640)
    with pytest.raises(sw.SwelltreeError, match=r"has mode 640: others may read"):
        read_certificate(file)
    (tmp_path / "other.pem").write_text("nothing")
    (tmp_path / "other.pem").chmod(0o600)
    with pytest.raises(sw.SwelltreeError, match="does not hold a key and a certificate"):
        read_certificate(tmp_path / "other.pem")
    with pytest.raises(sw.SwelltreeError, match="cannot be read: No such file"):
        read_certificate(tmp_path / "not_there.pem")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scheduler": "tcp://a:1"}, "runs the code of anybody who can reach it, as you"),
        ({"scheduler": "a:1"}, "runs the code of anybody who can reach it, as you"),
        ({"scheduler": "tls://a:1"}, "needs --certificate FILE"),
        ({"scheduler": "tcp://a:1", "certificate": "a.pem"}, "Start it with --protocol tls"),
        ({"scheduler": "tls://a:1", "certificate": "a.pem"}, "cannot be read"),
        ({"insecure": True}, "belong to a scheduler elsewhere"),
    ],
)
def test_how_a_scheduler_is_reached_is_said_before_anything_is_made(tmp_path, options, message):
    with pytest.raises(sw.SwelltreeError, match=message):
        small_campaign().run(tmp_path / "store", **options)
    assert not (tmp_path / "store").exists()


@pytest.mark.slow
def test_modules_beside_a_campaign_are_not_imported(tmp_path):
    """A file `signal.py`, as a colleague may leave it, is not the module of that name."""
    (tmp_path / "case.toml").write_text(PENDULUM.replace("FORCES", ""))
    (tmp_path / "many.toml").write_text(
        textwrap.dedent("""
        [campaign]
        name = "many"
        base = "case.toml"
        duration = 2.0
        output_step = 0.5
        step = 0.1
        [[vary]]
        type = "values"
        name = "bodies.bob.mass"
        values = [9.0, 10.0, 11.0, 12.0]
        """)
    )
    for name in ("signal", "numpy", "socket", "distributed", "swelltree", "sitecustomize"):
        text = f"open({str(tmp_path / 'executed')!r}, 'a').write({name!r})\nraise SystemExit(9)\n"
        (tmp_path / f"{name}.py").write_text(text)
    command = os.path.join(os.path.dirname(sys.executable), "swelltree")
    done = subprocess.run(
        [command, "sweep", "many.toml", "--workers", "2", "--no-report", "--quiet"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert not (tmp_path / "executed").exists(), (tmp_path / "executed").read_text()
    assert done.returncode == 0, done.stderr
    assert np.isfinite(sw.open_campaign(tmp_path / "out" / "many")["position"]).all()
    assert sw.open_campaign(tmp_path / "out" / "many").attrs["cases_done"] == 4


def test_the_environment_of_the_driver_is_as_before():
    before = dict(os.environ)
    with pool.saved_environment({"PYTHONSAFEPATH": "1", "OMP_NUM_THREADS": "1"}):
        assert os.environ["PYTHONSAFEPATH"] == "1"
    assert dict(os.environ) == before
