"""Campaign files and `swelltree sweep`."""

import shlex

import pytest
from typer.testing import CliRunner

import swelltree as sw
from made_buoy import buoy
from swelltree.campaigns.file import campaign_schema
from swelltree.cli import app
from swelltree.jit import cuda

FILE = """
[campaign]
name = "damping"
base = "buoy.toml"
study = "swell"
step = 0.2

[[vary]]
type = "values"
name = "ptos.pto.damping"
values = [1e4, 2e4]
"""


def written(folder, text):
    spring = sw.SpringDamper("spring", sw.WORLD.at(0, 0, 5), buoy().bodies[0], stiffness=1e5)
    system = buoy().replace(forces=[spring])
    study = sw.SimulateStudy("swell", duration=2.0, output_step=0.2)
    sw.Case(system, (study,)).to_toml(folder / "buoy.toml")
    (folder / "damping.toml").write_text(text)
    return folder / "damping.toml"


def test_a_file_says_what_python_says(tmp_path):
    campaign = sw.load_campaign(written(tmp_path, FILE))
    assert campaign.name == "damping"
    assert campaign.duration == 2.0
    assert campaign.step == 0.2
    assert len(campaign.table) == 2
    assert sw.load_campaign(written(tmp_path, FILE), duration=3.0, step=0.1).duration == 3.0


def test_sweep_runs_refuses_and_resumes(tmp_path):
    file = written(tmp_path, FILE)
    run = CliRunner()
    out = ["--out", str(tmp_path / "store"), "--workers", "0"]
    checked = run.invoke(app, ["sweep", str(file), "--check"])
    assert checked.exit_code == 0
    assert "damping: 2 cases (2 ptos.pto.damping)" in checked.output
    assert not (tmp_path / "store").exists()
    first = run.invoke(app, ["sweep", str(file), *out])
    assert first.exit_code == 0, first.output
    assert "2 done, 0 failed" in first.output
    assert "damping: 2/2 cases, 0 failed" in first.output
    assert (tmp_path / "store" / "report.html").exists()
    again = run.invoke(app, ["sweep", str(file), *out])
    assert again.exit_code == 2
    assert "already holds a campaign" in again.output
    (tmp_path / "store" / "index" / "000000.json").unlink()
    quiet = run.invoke(app, ["sweep", str(file), *out, "--resume", "--quiet"])
    assert quiet.exit_code == 0
    assert "2 done, 0 failed" in quiet.output
    assert "2/2 cases" not in quiet.output


def test_a_replay_is_linked_on_the_page_at_once(tmp_path):
    file, out = written(tmp_path, FILE), tmp_path / "store"
    sweep = ["sweep", str(file), "--out", str(out)]
    assert CliRunner().invoke(app, [*sweep, "--workers", "0"]).exit_code == 0
    assert "<a href" not in (out / "report.html").read_text()
    name = str(sw.open_campaign(out)["case_id"].values[1])
    reported = CliRunner().invoke(app, [*sweep, "--replay", name])
    assert reported.exit_code == 0, reported.output
    page = (out / "report.html").read_text()
    link = f'<a href="replays/{name}.html">{name}</a> ptos.pto.damping 20000'
    assert page.count(link) == 1
    assert "<html" in (out / "replays" / f"{name}.html").read_text()[:200]


def test_the_keyboard_stops_with_the_line_that_goes_on(tmp_path, monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(sw.Campaign, "run", stopped)
    file, out = written(tmp_path, FILE), tmp_path / "store"
    reported = CliRunner().invoke(app, ["sweep", str(file), "--out", str(out)])
    assert reported.exit_code == 130
    assert f"continue with: swelltree sweep {file} --out {out} --resume" in reported.output


def test_the_line_that_goes_on_can_be_copied(tmp_path, monkeypatch):
    """A name with a space and a letter beyond ASCII, and the options that say where it runs."""

    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(sw.Campaign, "run", stopped)
    file = written(tmp_path, FILE).rename(tmp_path / "my dämping.toml")
    reported = CliRunner().invoke(app, ["sweep", str(file), "--workers", "2"])
    assert reported.exit_code == 130
    line = next(x for x in reported.output.splitlines() if "continue with: " in x)
    words = shlex.split(line.split("continue with: ")[1])
    assert words == ["swelltree", "sweep", str(file), "--workers", "2", "--resume"]


def test_a_campaign_goes_on_from_another_folder_when_its_store_is_named(tmp_path, monkeypatch):
    """The base lies beside the campaign file; the store is where the command was given."""
    file = written(tmp_path, FILE)
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    sweep = ["sweep", str(file), "--workers", "0", "--no-report"]
    assert CliRunner().invoke(app, sweep).exit_code == 0
    index = tmp_path / "here" / "out" / "damping" / "index" / "000000.json"
    before = index.stat().st_mtime_ns
    monkeypatch.chdir(tmp_path / "there")
    again = CliRunner().invoke(app, [*sweep, "--resume", "--out", "../here/out/damping"])
    assert again.exit_code == 0, again.output
    assert index.stat().st_mtime_ns == before  # nothing was run again
    # where there is no store it is said, not begun as if it were one
    new = CliRunner().invoke(app, [*sweep, "--resume"])
    assert "'out/damping' holds no campaign yet: beginning it" in new.output
    assert "holds no campaign" not in again.output


def test_the_replay_of_a_case_that_failed_says_why_in_the_same_sentence(tmp_path):
    file = written(tmp_path, FILE.replace("ptos.pto.damping", "forces.spring.damping"))
    file.write_text(file.read_text().replace("[1e4, 2e4]", "[-1e4, 2e4]"))
    sweep = ["sweep", str(file), "--out", str(tmp_path / "store")]
    reported = CliRunner().invoke(app, [*sweep, "--workers", "0"])
    assert reported.exit_code == 1
    assert "1 done, 1 failed" in reported.output
    result = sw.open_campaign(tmp_path / "store")
    sentence = str(result["message"].values[0])
    assert "damping -10000.0 N s/m or N m s/rad is negative" in sentence
    replay = CliRunner().invoke(app, [*sweep, "--replay", str(result["case_id"].values[0])])
    assert replay.exit_code == 2
    assert sentence in replay.output


def test_processes_here_and_elsewhere_are_not_both_given(tmp_path):
    sweep = ["sweep", str(written(tmp_path, FILE)), "--out", str(tmp_path / "store")]
    both = CliRunner().invoke(app, [*sweep, "--workers", "2", "--scheduler", "tcp://a:1"])
    assert both.exit_code == 2
    assert "workers 2 are processes of this machine" in both.output
    assert not (tmp_path / "store").exists()


def test_sweep_takes_a_device_and_says_once_that_there_is_none(tmp_path, monkeypatch):
    monkeypatch.setattr(cuda, "device", lambda: "there is no driver of NVIDIA here")
    file = written(tmp_path, FILE.replace("step = 0.2", 'step = 0.2\ndevice = "gpu"'))
    assert sw.load_campaign(file).device == "gpu"
    sweep = ["sweep", str(file), "--workers", "0", "--no-report", "--out"]
    reported = CliRunner().invoke(app, [*sweep, str(tmp_path / "gpu")])
    assert reported.exit_code == 0, reported.output
    assert reported.output.count("no driver of NVIDIA") == 1
    quiet = CliRunner().invoke(app, [*sweep, str(tmp_path / "cpu"), "--set", "device=cpu"])
    assert quiet.exit_code == 0
    assert "NVIDIA" not in quiet.output
    wrong = CliRunner().invoke(app, [*sweep, str(tmp_path / "wrong"), "--set", "device=tpu"])
    assert wrong.exit_code == 2
    assert "device 'tpu' is not a device" in wrong.output


def test_the_schema_knows_every_kind_of_variation():
    schema = campaign_schema()
    kinds = schema["properties"]["vary"]["items"]["oneOf"]
    assert len(kinds) == 5
    assert "gallery" in schema["properties"]["campaign"]["properties"]


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("[campaign]", "[campain]", "no section 'campain'. Did you mean 'campaign'?"),
        ('base = "buoy.toml"', "", "give either base"),
        ('base = "buoy.toml"', 'base = "boy.toml"', "does not exist"),
        ('study = "swell"', 'study = "swel"', "Did you mean 'swell'?"),
        ('study = "swell"', "", "there is no duration"),
        ("step = 0.2", "step = 0.0", "step 0.0 s is not positive"),
        ("step = 0.2", "stepp = 0.2", "has no 'stepp'. Did you mean 'step'?"),
        ("step = 0.2", 'device = "gpus"', "Did you mean 'gpu'?"),
        ("step = 0.2", 'precision = "float32"', "precision 'float32' is for device 'gpu'"),
        ('type = "values"', 'type = "value"', "Did you mean 'values'?"),
        ("values = [1e4, 2e4]", 'values = "many"', "values"),
        ("values = [1e4, 2e4]", "values = [1e4", "not valid TOML"),
        ("ptos.pto.damping", "ptos.pto.dampin", "Did you mean 'damping'?"),
        ('base = "buoy.toml"\n', 'gallery = "rm33"\n', "Did you mean 'rm3'?"),
        ('base = "buoy.toml"\n', 'gallery = "rm3"\n', "study 'swell' belongs to a base"),
        ("[[vary]]", "[[vary]]\n[[vary]]", "there is no type None"),
        ("values = [1e4, 2e4]", "values = [1e4, nan]", "nan is not a number"),
        ("values = [1e4, 2e4]", 'values = [1e4, "2e4", 3e4]', "'2e4' is text. Give a number"),
        ("values = [1e4, 2e4]", "values = []", "values holds no values"),
        ("values = [1e4, 2e4]", "values = [1e4, 1e4]", "holds a value twice"),
    ],
)
def test_bad_files_are_told_in_a_sentence(tmp_path, old, new, sentence):
    file = written(tmp_path, FILE.replace(old, new))
    with pytest.raises(sw.SwelltreeError) as error:
        sw.load_campaign(file)
    assert sentence in str(error.value)


def test_a_file_that_is_not_there_is_told(tmp_path):
    written(tmp_path, FILE)
    with pytest.raises(sw.SwelltreeError, match=r"cannot be read: .* Did you mean 'damping.toml'"):
        sw.load_campaign(tmp_path / "dampin.toml")


ABEAM = """
[campaign]
name = "abeam"
gallery = "rm3"
duration = 20.0

[[vary]]
type = "scatter"
Hs = [2.0]
Tp = [8.0, 9.0]
beta_deg = [0, 250]
occurrence = [[[1, 1], [1, 1]]]
"""


def test_check_tells_cases_that_no_data_are_there_for(tmp_path):
    """Nothing is run, and the outermost cases of each column are made."""
    file = tmp_path / "abeam.toml"
    file.write_text(ABEAM)
    reported = CliRunner().invoke(app, ["sweep", str(file), "--check"])
    assert reported.exit_code == 2
    lines = reported.stdout.splitlines()
    assert lines[0] == "abeam: 4 cases (1 Hs x 2 Tp x 2 beta)"
    assert len(lines) == 2
    assert lines[1].startswith("the case with Hs = 2, Tp = 8, beta = 4.36332 cannot be run: ")
    assert "heading" in lines[1]
    assert list(tmp_path.iterdir()) == [file]


def test_sweep_check_makes_a_case_of_every_value(tmp_path):
    """The bad one stands in the middle: only the ends of a list were tried."""
    file = written(tmp_path, FILE.replace("[1e4, 2e4]", "[1e4, 1.5e4, -3e4, 2e4, 2.5e4]"))
    checked = CliRunner().invoke(app, ["sweep", str(file), "--check"])
    assert checked.exit_code == 2
    assert "-30000" in checked.output
    assert "negative" in checked.output
