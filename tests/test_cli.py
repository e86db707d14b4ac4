"""The command: exit codes, one sentence for a mistake, files where they belong."""

import json
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import swelltree as sw
from support import PENDULUM
from swelltree.cli import app

CASE = f"""{PENDULUM}
[[studies]]
name = "swing"
type = "simulate"
duration = 1.0
output_step = 0.1
"""
PUSH = (
    '{ name = "push", type = "applied_force", point = "bob", '
    'force = ["law_of_test_cli:push", 0, 0] }'
)


@pytest.fixture
def case(tmp_path):
    path = tmp_path / "pendulum.toml"
    path.write_text(CASE.replace("FORCES", ""))
    return path


def swelltree(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def is_one_sentence(text):
    return text.startswith("swelltree: ") and text.count("\n") == 1 and "Traceback" not in text


def test_check_shows_tree_freedoms_and_studies(case):
    done = swelltree("check", case)
    assert done.exit_code == 0, done.output
    assert "pivot hinge: Pitch" in done.output
    assert "1 degree of freedom" in done.output
    assert "study swing: simulate, 1 s with tsit5" in done.output


def test_check_tells_which_loop_was_cut(tmp_path):
    tilt = float(np.rad2deg(np.arctan2(0.3, 0.4)))
    a = sw.Body("a", 1.0, (1, 1, 1), position=(0.4, 0, 0.3), rotation_deg=(0, -tilt, 0))
    b = sw.Body("b", 1.0, (1, 1, 1), position=(1.2, 0, 0.3), rotation_deg=(0, tilt, 0))
    system = sw.System(
        "triangle",
        [a, b],
        [
            sw.Hinge("left", sw.WORLD, a.at(-0.5)),
            sw.Hinge("knee", a.at(0.5), b.at(-0.5)),
            sw.Ball("right", sw.WORLD.at(1.6), b.at(0.5)),
        ],
    )
    path = tmp_path / "triangle.toml"
    system.to_toml(path)
    done = swelltree("check", path)
    assert done.exit_code == 0, done.output
    assert "joint 'right' closes a loop through" in " ".join(done.output.split())
    assert "no studies" in done.output


def test_check_needs_no_jax_and_imports_no_user_code(tmp_path):
    path = tmp_path / "case.toml"
    path.write_text(CASE.replace("FORCES", PUSH))
    code = (
        "import sys; from swelltree.cli import app\n"
        f"app(['check', {str(path)!r}], standalone_mode=False)\n"
        "assert 'jax' not in sys.modules and 'xarray' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "1 force element" in done.stdout


def test_check_of_a_member_in_a_current_that_is_a_function(tmp_path):
    member = (
        '{ name = "rod", type = "morison", a = "bob", diameter = 0.1, '
        'b = { body = "bob", position = [0, 0, 1] } }'
    )
    flow = 'current = { type = "field", function = "nowhere:eddy" }\nforces'
    path = tmp_path / "case.toml"
    path.write_text(CASE.replace("FORCES", member).replace("forces", flow))
    done = swelltree("check", path)
    assert done.exit_code == 0, done.output
    assert "rod morison  on bob" in done.output
    assert "the current is a function" in done.output


def test_run_writes_the_result_and_finds_functions_beside_the_case(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "law_of_test_cli.py").write_text("def push(t):\n    return 5.0 * t\n")
    path = tmp_path / "case.toml"
    path.write_text(CASE.replace("FORCES", PUSH))
    done = swelltree("run", path, "--out", tmp_path / "out", "--checkpoint")
    assert done.exit_code == 0, done.output
    assert "energy budget" in done.output
    result = sw.load_result(tmp_path / "out" / "swing.nc")
    assert result["applied_force"].sel(applied="push", axis="x").values[-1] == pytest.approx(5.0)
    assert result.attrs["case"] == path.read_text()
    assert result.attrs["study_name"] == "swing"

    again = swelltree("run", path, "--out", tmp_path / "out", "--checkpoint")
    assert again.exit_code == 2
    assert "holds an earlier run" in again.stderr
    resumed = swelltree("run", path, "--out", tmp_path / "out", "--resume", "--report")
    assert resumed.exit_code == 0, resumed.output
    assert (tmp_path / "out" / "swing.html").exists()
    after = sw.load_result(tmp_path / "out" / "swing.nc")
    assert after.drop_attrs().identical(result.drop_attrs())
    # the report shows the very tables that the run did
    reported = swelltree("report", tmp_path / "out" / "swing.nc")
    assert reported.exit_code == 0, reported.output
    assert "(simulate)" in reported.output.splitlines()[0]
    assert reported.output.split("written:")[0] == resumed.output.split("written:")[0]


def test_options_of_a_case_are_set_on_the_command_line(case, tmp_path):
    rest = '[[studies]]\nname = "rest"\ntype = "equilibrium"\n'
    case.write_text(case.read_text() + rest)
    words = ["duration=0.5", "output_step=0.25", "formulation=lagrange", 'extremes=["position"]']
    sets = [part for word in words for part in ("--set", word)]
    done = swelltree("run", case, "--out", tmp_path / "out", *sets)
    assert done.exit_code == 0, done.output
    swing, rest = (sw.load_result(tmp_path / "out" / f"{x}.nc") for x in ("swing", "rest"))
    assert list(swing["time"].values) == [0.0, 0.25, 0.5]
    assert swing.attrs["formulation"] == rest.attrs["formulation"] == "lagrange"
    assert "position_max" in swing


def test_rest_and_modes_are_run_and_written(case, tmp_path):
    studies = '[[studies]]\nname = "rest"\ntype = "equilibrium"\n'
    studies += '[[studies]]\nname = "periods"\ntype = "modes"\n'
    case.write_text(case.read_text().split("[[studies]]")[0] + studies)
    done = swelltree("run", case, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "equilibrium" in done.output
    period = float(sw.load_result(tmp_path / "out" / "periods.nc")["natural_period"][0])
    assert period == pytest.approx(2 * np.pi * np.sqrt((10.0 + 0.1) / (10.0 * 9.81)))
    assert f"{period:.4g}" in done.output
    rest = sw.load_result(tmp_path / "out" / "rest.nc")
    assert float(rest["position"].sel(body="bob", dof="Heave")) == pytest.approx(-1.0)
    assert rest.attrs["study_name"] == "rest"


def test_a_bad_case_ends_with_one_sentence_and_code_2(case):
    case.write_text(case.read_text().replace("mass = 10.0", "mass = -10.0"))
    for word in ("check", "run"):
        done = swelltree(word, case)
        assert done.exit_code == 2
        assert is_one_sentence(done.stderr), done.stderr
        assert "body 'bob': mass -10.0 kg is negative" in done.stderr


def test_a_missing_file_is_told_with_the_nearest_name(case):
    done = swelltree("check", case.with_name("pendlum.toml"))
    assert done.exit_code == 2
    assert is_one_sentence(done.stderr), done.stderr
    assert "Did you mean 'pendulum.toml'?" in done.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--study", "swung"], "study 'swung' is not in the case. Did you mean 'swing'?"),
        (["--set", "formulation=path_matrx"], "Did you mean 'path_matrix'?"),
        (["--set", "durtion=3.0"], "study 'swing': a simulate has no 'durtion'. Did you mean"),
        (["--set", "duration"], "--set duration: there is no '='. Give e.g. --set duration=60."),
        (["--set", "rtol=-1"], "study 'swing': rtol -1.0 is not positive."),
    ],
)
def test_unknown_choices_are_told(case, words, sentence):
    done = swelltree("run", case, *words)
    assert done.exit_code == 2
    assert is_one_sentence(done.stderr), done.stderr
    assert sentence in done.stderr


def test_an_unwritable_folder_is_told_before_anything_runs(case, tmp_path):
    (tmp_path / "file").write_text("")
    done = swelltree("run", case, "--out", tmp_path / "file")
    assert done.exit_code == 2
    assert is_one_sentence(done.stderr), done.stderr
    assert "a file has that name. Choose another folder" in done.stderr


def test_a_case_without_studies_has_nothing_to_run(case):
    case.write_text(case.read_text().split("[[studies]]")[0])
    done = swelltree("run", case)
    assert done.exit_code == 2
    assert "has no studies. Add [[studies]]" in done.stderr


def test_the_keyboard_ends_a_run_with_code_130(case, monkeypatch):
    def stop(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("swelltree.describe.load", stop)
    done = swelltree("check", case)
    assert done.exit_code == 130
    assert done.stderr == "swelltree: stopped by the keyboard.\n"


def test_warnings_are_one_line(case):
    case.write_text(case.read_text().replace("position = 0.2", "position = 20"))
    done = swelltree("check", case)
    assert done.exit_code == 0
    assert done.stderr.startswith("warning: joint 'pivot': position of Pitch 20.0 rad")
    assert done.stderr.count("\n") == 1


def test_schema_and_version():
    assert json.loads(swelltree("schema").output)["title"] == "swelltree case file"
    lines = swelltree("--version").output.splitlines()
    assert lines[0] == f"swelltree {sw.__version__}"
    named = [line.split()[0] for line in lines]
    assert named[1:5] == ["Python", "jax", "jaxlib", "llvmlite"]
    assert "(LLVM " in lines[4]
    assert "capytaine" in named


def test_report_view_and_export_of_a_result_file(tmp_path):
    from made_result import made_run

    sw.save(made_run(duration=10.0), tmp_path / "run.nc")
    done = swelltree("report", tmp_path / "run.nc", "-o", tmp_path / "page.html")
    assert done.exit_code == 0
    assert done.output.splitlines()[0] == "one: made up (simulate)"
    assert "energy budget" in done.output
    assert "written:" in done.output
    assert (tmp_path / "page.html").read_text().startswith("<!doctype html>")
    assert swelltree("report", tmp_path / "run.nc").exit_code == 0
    assert (tmp_path / "run.html").is_file()
    assert swelltree("export", tmp_path / "run.nc", tmp_path / "run.glb").exit_code == 0
    for words in (
        ("report", tmp_path / "none.nc"),
        ("view", tmp_path / "none.nc"),
        ("export", tmp_path / "run.nc", tmp_path / "run.xyz"),
        ("report", tmp_path / "run.nc", "-o", tmp_path / "none" / "page.html"),
    ):
        failed = swelltree(*words)
        assert failed.exit_code == 2
        assert failed.output.startswith("swelltree: ")
        assert len(failed.output.strip().splitlines()) == 1


def test_check_names_ptos_moorings_lines_and_winches(tmp_path):
    buoy = sw.Body("buoy", hull=sw.Box(4.0, 4.0, 2.0, 1.0))
    line = sw.Line("tail", sw.WORLD.at(30, 0, -40), buoy.at(2, 0, 0), 55.0, sw.chain(0.05))
    system = sw.System(
        "moored",
        [buoy],
        [sw.Slider("mast", sw.WORLD, buoy)],
        ptos=[sw.LinearPto("damper", joint="mast", damping=1e4)],
        moorings=[sw.LinearMooring("soft", buoy, stiffness={"Surge": 1e3})],
        lines=[line],
        winches=[sw.Winch("drum", line)],
        water=sw.Water(depth=40.0),
    )
    path = tmp_path / "moored.toml"
    system.to_toml(path)
    done = swelltree("check", path)
    assert done.exit_code == 0, done.output
    reported = " ".join(done.output.split())
    assert "damper linear, on joint mast" in reported
    assert "soft linear, on buoy" in reported
    assert "tail dynamic, world - buoy" in reported
    assert "drum on line tail" in reported


def test_check_misses_a_hydro_file(case):
    case.write_text(case.read_text() + '\n[hydro]\nfile = "no_such.nc"\n')
    done = swelltree("check", case)
    assert done.exit_code == 2
    assert is_one_sentence(done.output)
    assert "no_such.nc' does not exist" in done.output


def two_studies(case, first, second):
    """The case with two short runs of these names, told apart by their length."""
    text = case.read_text().split("[[studies]]")[0]
    for name, duration in ((first, 0.2), (second, 0.4)):
        text += f'[[studies]]\nname = "{name}"\ntype = "simulate"\nduration = {duration}\n'
    case.write_text(text)
    return case


@pytest.mark.parametrize(
    ("first", "second", "sentence"),
    [
        ("a/b", "a_b", "same file 'a_b.nc' as those of study 'a/b'"),
        ("Run", "run", "same file 'run.nc' as those of study 'Run'"),
        ("caf\\u00e9", "cafe\\u0301", "as those of study 'caf\u00e9'"),
        ("a", "b\\u0000c", "holds a sign that cannot be printed"),
        ("a", "x" * 300, "its name of 300 letters is too long for a file"),
        ("a", "\u00e9" * 150, "its name of 150 letters is too long for a file"),
        ("a", "hydro", "in the file of the data that `swelltree bem` writes"),
    ],
)
def test_studies_that_would_share_a_file_are_refused_before_anything_runs(
    case, tmp_path, first, second, sentence
):
    for command in (("run", "--out", tmp_path / "out"), ("check",)):
        done = swelltree(command[0], two_studies(case, first, second), *command[1:])
        assert done.exit_code == 2, done.output
        assert sentence in done.stderr
        assert is_one_sentence(done.stderr)
    assert not (tmp_path / "out").exists()


def test_studies_of_other_names_have_files_of_their_own(case, tmp_path):
    done = swelltree("run", two_studies(case, "a/b", "a*c"), "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    ends = {
        sw.load_result(file).attrs["study_name"]: float(sw.load_result(file).time[-1])
        for file in (tmp_path / "out").glob("*.nc")
    }
    assert ends == {"a/b": 0.2, "a*c": 0.4}


def test_a_result_of_another_case_is_not_written_over(case, tmp_path):
    assert swelltree("run", case, "--out", tmp_path / "out").exit_code == 0
    assert swelltree("run", case, "--out", tmp_path / "out").exit_code == 0  # its own is
    before = (tmp_path / "out" / "swing.nc").read_bytes()
    other = tmp_path / "other.toml"
    other.write_text(case.read_text().replace("0.2", "0.3"))
    done = swelltree("run", other, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert "holds a result of the case 'pendulum.toml', not of 'other.toml'" in done.stderr
    assert (tmp_path / "out" / "swing.nc").read_bytes() == before


def test_a_case_of_the_same_name_in_another_folder_writes_over_nothing(case, tmp_path):
    assert swelltree("run", case, "--out", tmp_path / "out").exit_code == 0
    twin = tmp_path / "twin" / case.name
    twin.parent.mkdir()
    twin.write_text(case.read_text())
    done = swelltree("run", twin, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert "holds a result of a case 'pendulum.toml' of another folder" in done.stderr
    # a case that is moved with its results still owns them
    both = tmp_path / "moved"
    both.mkdir()
    (tmp_path / "out").rename(both / "out")
    case.rename(both / case.name)
    assert swelltree("run", both / case.name, "--out", both / "out").exit_code == 0


def test_check_imports_no_speed_of_a_winch(tmp_path):
    rope = sw.LineType("rope", diameter=0.05, mass_per_length=8.0, EA=1e7)
    line = sw.Line("hoist", (0.0, 0.0, -30.0), (3.0, 1.0, -2.0), 31.0, rope, segments=4)
    winch = sw.Winch("winch", "hoist", speed="not_installed_here:speed", drum=40.0)
    system = sw.System("s", lines=[line], winches=[winch], water=sw.Water(depth=30.0))
    path = tmp_path / "case.toml"
    path.write_text(sw.Case(system).to_toml())
    done = swelltree("check", path)
    assert done.exit_code == 0, done.output
    said = " ".join(done.output.split())
    assert "speed follows 'not_installed_here:speed', which only a run imports" in said


@pytest.mark.parametrize("names_code", [False, True])
def test_a_module_beside_the_case_never_stands_in_for_a_package(tmp_path, names_code):
    # in a process of its own: what is imported here already would hide the mistake
    for module in ("scipy", "xarray", "h5py", "rich", "control"):
        (tmp_path / f"{module}.py").write_text("raise SystemExit('ran the intruder')\n")
    (tmp_path / "law_of_test_cli.py").write_text("def push(t):\n    return 5.0 * t\n")
    path = tmp_path / "case.toml"
    path.write_text(CASE.replace("FORCES", PUSH if names_code else ""))
    code = f"""
import sys
from swelltree.cli import app
app(["run", {str(path)!r}, "--out", {str(tmp_path / "out")!r}], standalone_mode=False)
assert ({str(tmp_path)!r} in sys.path) is {names_code}
assert {str(tmp_path)!r} not in sys.path[:-1]
import scipy, control
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "swing.nc").exists()


def test_a_law_hidden_by_a_package_of_the_same_name_is_told(tmp_path):
    (tmp_path / "control.py").write_text("def push(t):\n    return 5.0 * t\n")
    path = tmp_path / "case.toml"
    path.write_text(CASE.replace("FORCES", PUSH.replace("law_of_test_cli", "control")))
    done = swelltree("run", path, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert "'control:push': 'control.py' beside the case is hidden by a module" in done.stderr
    assert is_one_sentence(done.stderr)


def test_a_run_is_not_resumed_with_an_edited_law(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    path, out = tmp_path / "case.toml", tmp_path / "out"
    path.write_text(CASE.replace("FORCES", PUSH.replace("law_of_test_cli", "edited_law")))

    def run(word, gain, strength):
        texts = {"edited_law": "from edited_gain import gain\ndef push(t):\n    return gain * t\n"}
        texts["edited_gain"] = f"gain = {gain}\n"
        texts["edited_law"] += f"# {strength}\n"
        for name, text in texts.items():
            (tmp_path / f"{name}.py").write_text(text)
            monkeypatch.delitem(sys.modules, name, raising=False)
        return swelltree("run", path, "--out", out, word)

    assert run("--checkpoint", 5.0, "a").exit_code == 0
    first = sw.load_result(out / "swing.nc")["position"]
    assert run("--resume", 5.0, "a").exit_code == 0
    assert sw.load_result(out / "swing.nc")["position"].equals(first)
    for edited in ((7.0, "a"), (5.0, "another")):
        done = run("--resume", *edited)
        assert done.exit_code == 2, done.output
        assert "belongs to another case" in done.stderr
        assert is_one_sentence(done.stderr)


LIGHT = """
[system]
name = "light"
water = { rho = 1000.0 }
joints = [{ name = "rail", type = "slider", base = "world", follower = "buoy" }]
forces = [FORCES]

[[system.bodies]]
name = "buoy"
mass = 900.0
inertia = [300, 300, 300]
displaced_volume = 1.0
position = [0, 0, -9]

[[studies]]
name = "first"
type = "simulate"
duration = 1.0

[[studies]]
name = "second"
type = "simulate"
duration = 2.0
"""
TIE = (
    '{ name = "tie", type = "spring_damper", a = "buoy", '
    'b = { body = "world", position = [0, 0, -30] }, stiffness = 1e3, damping = 1e3 }'
)


def test_physics_names_the_engine_of_each_run_and_the_reason(tmp_path, monkeypatch):
    path = tmp_path / "light.toml"
    text = LIGHT.replace("FORCES", TIE).replace(
        "duration = 2.0", "duration = 2.0\nsolver = 'stiff'"
    )
    path.write_text(text)
    assert "engine: LLVM" in swelltree("check", "--physics", path).output
    monkeypatch.setenv("SWELLTREE_ENGINE", "xla")
    said = swelltree("check", "--physics", path).output
    assert said.count("engine: XLA: SWELLTREE_ENGINE=xla asks for it") == 2  # at rest, and the run


def test_check_names_the_engine_before_anything_is_compiled(tmp_path, monkeypatch):
    path = tmp_path / "light.toml"
    path.write_text(LIGHT.replace("FORCES", TIE))
    monkeypatch.delenv("SWELLTREE_ENGINE", raising=False)
    said = " ".join(swelltree("check", path).output.split())
    assert "engine: LLVM, or XLA if LLVM cannot be used; check --physics states" in said
    monkeypatch.setenv("SWELLTREE_ENGINE", "xla")
    said = " ".join(swelltree("check", path).output.split())
    assert "engine: XLA: SWELLTREE_ENGINE=xla asks for it" in said


STUDIES = """
[[studies]]
name = "rest"
type = "equilibrium"

[[studies]]
name = "swing"
type = "modes"

[[studies]]
name = "orbit"
type = "steady_state"
sea = { type = "regular", amplitude = 0.1, omega = 0.9 }
"""


def test_physics_names_the_engine_of_other_studies(tmp_path, monkeypatch):
    path = tmp_path / "light.toml"
    path.write_text(LIGHT.replace("FORCES", TIE) + STUDIES)
    said = " ".join(swelltree("check", "--physics", path).output.split())
    for name in ("rest", "swing"):
        assert f"engine of study {name}: LLVM" in said
    # this system has no hydro data
    assert "engine of study orbit: not known, the study would not begin: " in said
    monkeypatch.setenv("SWELLTREE_ENGINE", "xla")
    said = " ".join(swelltree("check", "--physics", path).output.split())
    assert "engine of study swing: XLA: SWELLTREE_ENGINE=xla asks for it" in said


@pytest.mark.parametrize(("forces", "rests"), [("", False), (TIE, True)], ids=["free", "tied"])
def test_physics_says_each_thing_once(tmp_path, forces, rests):
    """Of two studies and the outline before them; a tied buoy has its state of rest."""
    path = tmp_path / "light.toml"
    path.write_text(LIGHT.replace("FORCES", forces))
    done = swelltree("check", "--physics", path)
    said = " ".join(done.output.split())
    assert said.count("displaced water has 1000 kg: 100 kg or 10 % too light") == 1
    assert said.count("no equilibrium was found") == (0 if rests else 1)
    assert ("leaves 981 N to" in said) == rests
    assert said.count("engine: LLVM") == 2  # one of each study
    assert done.exit_code == (0 if rests else 1)


def test_a_case_without_weight_and_sea_passes_check_and_runs(tmp_path):
    """`check` took g = 0 without a sea, and `run` refused it."""
    body = sw.Body("cart", 2.0, (1.0, 1.0, 1.0))
    rail = sw.Slider("rail", sw.WORLD, body, axis=(4, -3, 0), position=1.0)
    spring = sw.JointForce("spring", "rail", stiffness=8.0)
    system = sw.System("cart", [body], [rail], forces=[spring], water=sw.Water(g=0.0))
    study = sw.SimulateStudy("decay", duration=1.0, output_step=0.1)
    path = tmp_path / "cart.toml"
    sw.Case(system, (study,)).to_toml(path)
    assert swelltree("check", path).exit_code == 0
    done = swelltree("run", path, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    found = sw.load_result(next((tmp_path / "out").glob("*.nc")))
    assert float(found.joint_coordinate[-1, 0]) == pytest.approx(np.cos(2.0), abs=1e-5)


def test_examples_are_listed_and_copied_with_their_data(tmp_path, monkeypatch):
    listed = swelltree("examples").output
    assert "moored_float.py                  A moored float in ten lines" in listed
    monkeypatch.chdir(tmp_path)
    done = swelltree("examples", "--copy")
    assert done.exit_code == 0, done.output
    copied = {file.name for file in (tmp_path / "examples").iterdir()}
    assert copied == {*(line.split()[0] for line in listed.splitlines()[:-1]), "barges.nc"}
    assert swelltree("check", "examples/hinged_barges.toml").exit_code == 0
    again = swelltree("examples", "--copy")
    assert again.exit_code == 2
    assert is_one_sentence(again.stderr)
    assert "folder 'examples' exists. Give another one with --out." in again.stderr
