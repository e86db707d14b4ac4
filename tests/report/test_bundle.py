"""The viewer in the repository is what its sources build to."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

import swelltree

WEB = Path(swelltree.__file__).parent / "report" / "web"
BUILT = ("viewer.min.js", "viewer.min.css")


def test_notices_of_the_libraries_are_in_the_bundle():
    text = (WEB / "viewer.min.js").read_text(encoding="utf-8")
    notices = (WEB / "LICENSES.txt").read_text(encoding="utf-8")
    assert notices in text
    for name in ("three", "uplot", "fflate"):
        assert f"=== {name} " in notices


def test_the_lock_file_names_no_addresses_and_every_version():
    lock = json.loads((WEB / "package-lock.json").read_text())
    assert "resolved" not in json.dumps(lock)
    requested = json.loads((WEB / "package.json").read_text())
    for name, version in (requested["dependencies"] | requested["devDependencies"]).items():
        package = lock["packages"][f"node_modules/{name}"]
        assert package["version"] == version
        assert package["integrity"].startswith("sha512-")


def test_the_bundle_is_built_from_its_sources(tmp_path):
    if shutil.which("node") is None or shutil.which("npm") is None:
        pytest.skip("skipped: no node")
    work = tmp_path / "web"
    shutil.copytree(WEB, work, ignore=shutil.ignore_patterns("node_modules"))
    if (WEB / "node_modules").is_dir():
        (work / "node_modules").symlink_to(WEB / "node_modules")
    else:
        fetch = ["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"]
        try:
            found = subprocess.run(fetch, cwd=work, capture_output=True, timeout=120)
        except subprocess.TimeoutExpired:
            pytest.skip("skipped: the packages of the viewer cannot be fetched")
        if found.returncode:
            pytest.skip("skipped: the packages of the viewer cannot be fetched")
    built = tmp_path / "made"
    built.mkdir()
    subprocess.run(["node", "build.js", str(built)], cwd=work, check=True, timeout=60)
    for name in BUILT:
        assert (built / name).read_bytes() == (WEB / name).read_bytes(), (
            f"{name} is older than its sources: run `npm ci && npm run build` in {WEB.name}/"
        )
