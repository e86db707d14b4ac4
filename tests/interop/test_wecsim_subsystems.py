"""Simulink models with subsystems: what they hold is read, whatever the depth."""

import re

import pytest

import swelltree as sw
from interop.wecsim_folder import root_of_model
from made_wecsim import GROUND, STILL, dry_body, rim, subsystem, system_xml, write_case, write_slx
from support import refdata
from swelltree.interop.wecsim.diagram import read_diagram

# two bodies on the ground: the second slides on the first, which is hinged
SCRIPT = (
    STILL
    + dry_body(1, center=(0.3, 0.1, -2.0))
    + dry_body(2, center=(1.3, -0.2, -4.0))
    + "constraint(1) = constraintClass('turn');\nconstraint(1).location = [0.1 0.2 1];\n"
    + "pto(1) = ptoClass('ram');\npto(1).location = [1 0 -3];\npto(1).damping = 50;\n"
)
HINGE = ("Constraints/Rotational", "constraint", "constraint(1)")
RAM = ("PTOs/Translational PTO", "pto", "pto(1)")
ONE, TWO = (("Body Elements/Rigid Body", "body", f"body({n})") for n in (1, 2))
FLAT = (
    {1: GROUND, 2: HINGE, 3: ONE, 4: RAM, 5: TWO},
    [["1r", "2l"], ["2r", "3r", "4l"], ["4r", "5r"]],
)


def text_of(folder):
    found = sw.read_wecsim(folder)
    assert found.is_complete, found.left
    return found.text


def joins(port, *others):
    """A physical line between ports as the file names them."""
    ends = "".join(f"<Branch><P Name='Dst'>{other}</P></Branch>" for other in others)
    return f"<Line LineType='Connection'><P Name='Src'>{port}</P>{ends}</Line>"


def nested(folder, within="system_7", **more):
    """Hinge and first body in one subsystem; the other body and its PTO in one of a subsystem."""
    device = system_xml(
        {2: HINGE, 3: ONE},
        [["2r", "3r"]],
        rim(20, "Left", 1)
        + rim(21, "Right", 2)
        + joins("20#rconn:1", "2#lconn:1")
        + joins("21#rconn:1", "2#rconn:1"),
    )
    # the same numbers as outside, and a port without what is its default
    inner = system_xml(
        {1: RAM, 2: TWO}, [["1r", "2r"]], rim(3, "", "") + joins("3#rconn:1", "1#lconn:1")
    )
    outer = system_xml(
        {}, [], rim(30, "", 4) + subsystem(1, "arm", inner) + joins("30#rconn:1", "1#lconn:1")
    )
    top = (
        subsystem(7, "device", within)
        + subsystem(8, "reach", outer)
        + joins("1#rconn:1", "7#lconn:1")
        + joins("7#rconn:1", "8#lconn:1")
    )
    return write_case(folder, SCRIPT, {1: GROUND}, [], top, {"system_7": device} | more)


def test_a_case_in_subsystems_is_the_same_case(tmp_path):
    flat = text_of(write_case(tmp_path / "flat", SCRIPT, *FLAT))
    assert text_of(nested(tmp_path / "nested")) == flat
    assert [j.name for j in sw.loads(flat).system.joints] == ["turn", "ram_slider"]


@pytest.mark.parametrize(("numbers", "joint"), [((1, 2), "hinge"), ((9, 3), "slider")])
def test_ports_of_a_rim_count_by_their_numbers_on_each_side(tmp_path, numbers, joint):
    """A subsystem with two ways in, one over a hinge, one over a slider; the other hangs free."""
    script = SCRIPT.replace(dry_body(2, center=(1.3, -0.2, -4.0)), "")
    inner = system_xml(
        {2: HINGE, 3: ONE, 4: RAM},
        [["2r", "3r", "4r"]],
        rim(20, "Right", numbers[0])
        + rim(21, "Right", numbers[1])
        + rim(22, "Left", 5)
        + joins("20#lconn:1", "2#lconn:1")
        + joins("21#lconn:1", "4#lconn:1"),
    )
    top = subsystem(7, "device", inner) + joins("1#rconn:1", "7#rconn:1")
    found = sw.read_wecsim(write_case(tmp_path, script, {1: GROUND}, [], top))
    (built,) = found.case.system.joints
    assert (built.type, built.base.body, built.follower.body) == (joint, "world", "part1")
    (left,) = (x for x in found.left if "joined to nothing" in x.sentence)
    assert "block 'device/" in left.place


def test_logic_within_is_told_with_its_names_and_its_line(tmp_path):
    logic = "\n<Block BlockType='Gain' Name='push' SID='50'/>"
    logic += "\n<Block BlockType='Scope' Name='s' SID='51'/>"
    inner = system_xml(
        {4: RAM, 5: TWO},
        [["4r", "5r"]],
        rim(6, "Left", 1) + joins("6#rconn:1", "4#lconn:1") + logic,
    )
    control = "<System>\n\n<Block BlockType='Gain' Name='g' SID='60'/></System>"
    top = (
        subsystem(7, "device", "system_7")
        + "\n"
        + subsystem(8, "logic", "system_8")
        + joins("3#rconn:1", "7#lconn:1")
    )
    folder = write_case(
        tmp_path,
        SCRIPT,
        {1: GROUND, 2: HINGE, 3: ONE},
        [["1r", "2l"], ["2r", "3r"]],
        top,
        {"system_7": inner, "system_8": control},
    )
    found = sw.read_wecsim(folder)
    assert [str(item) for item in found.left] == [
        "model.slx, system_7.xml:2, block 'device/push': is control logic of Simulink (Gain); it "
        "is not translated.",
        "model.slx, system_root.xml:2, block 'logic': is control logic of Simulink (SubSystem); it "
        "is not translated.",
    ]
    assert len(found.case.system.joints) == 2


def test_variants_are_told_and_not_opened(tmp_path):
    inner = system_xml({4: RAM, 5: TWO}, [["4r", "5r"]])
    top = subsystem(7, "which", inner, "<P Name='Variant'>on</P>")
    folder = write_case(
        tmp_path, SCRIPT, {1: GROUND, 2: HINGE, 3: ONE}, [["1r", "2l"], ["2r", "3r"]], top
    )
    reported = [str(item) for item in sw.read_wecsim(folder).left]
    assert any("block 'which': holds 2 blocks of WEC-Sim in variants" in text for text in reported)
    assert any("body(2) has no block" in text for text in reported)


@pytest.mark.parametrize(
    ("systems", "sentence"),
    [
        ({"system_7": subsystem(1, "a", "system_7")}, "subsystem 'a' holds itself"),
        (
            {"system_7": subsystem(1, "a", "system_8"), "system_8": subsystem(1, "b", "system_7")},
            "subsystem 'b' holds itself",
        ),
        (
            {f"system_{k}": subsystem(1, "a", f"system_{k + 1}") for k in range(7, 2000)},
            "more than 50 deep",
        ),
        (
            {
                f"system_{k}": "".join(subsystem(i, "a", f"system_{k + 1}") for i in range(10, 20))
                for k in range(7, 20)
            },
            "more than 5000 blocks",
        ),
    ],
    ids=["itself", "in a ring", "deep", "tenfold"],
)
def test_subsystems_without_end_are_a_sentence(tmp_path, systems, sentence):
    last = max(systems, key=lambda name: int(name[7:]))
    blocks = system_xml({3: ONE}, []).partition("<System>")[2]
    parts = {name: f"<System>{text}{blocks}" for name, text in systems.items()}
    parts[f"system_{int(last[7:]) + 1}"] = f"<System>{blocks}"
    parts["system_root"] = f"<System>{subsystem(7, 'top', 'system_7')}</System>"
    path = write_slx(
        tmp_path / "model.slx", {f"simulink/systems/{k}.xml": v for k, v in parts.items()}
    )
    with pytest.raises(sw.SwelltreeError, match=sentence):
        read_diagram(path)


def test_a_public_model_in_a_subsystem_joins_the_same(tmp_path):
    """All of the RM3 but the ground, moved into a subsystem by hand."""
    path = refdata("wecsim_inputs", "wecsim/examples/RM3/RM3.slx")
    text = root_of_model(path)
    flat = read_diagram(path)
    (ground,) = (b for b in flat.blocks.values() if b.library == "frames")
    block = re.search(rf'<Block [^>]*SID="{ground.sid}".*?</Block>', text, re.DOTALL)[0]
    line = next(
        x for x in re.findall(r"<Line .*?</Line>", text, re.DOTALL) if f">{ground.sid}#" in x
    )
    inside = text.replace(block, rim(900, "Left", 1)).replace(
        line, line.replace(f">{ground.sid}#", ">900#")
    )
    top = f"<System>{block}{subsystem(901, 'device', 'system_901')}"
    top += joins(f"{ground.sid}#rconn:1", "901#lconn:1") + "</System>"
    built = write_slx(
        tmp_path / "RM3.slx",
        {"simulink/systems/system_root.xml": top, "simulink/systems/system_901.xml": inside},
    )
    script = refdata("wecsim_inputs", "wecsim/examples/RM3/wecSimInputFile.m")
    (tmp_path / script.name).write_bytes(script.read_bytes())
    assert len(read_diagram(built).blocks) == len(flat.blocks) + 1  # the port of the rim
    text = sw.read_wecsim(tmp_path).text
    write_slx(tmp_path / "RM3.slx", {"simulink/systems/system_root.xml": root_of_model(path)})
    assert sw.read_wecsim(tmp_path).text == text
