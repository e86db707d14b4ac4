"""Descriptions that once took all memory or ended in a traceback: one message, file and line."""

import tracemalloc

import pytest

import swelltree as sw
from support import PENDULUM
from swelltree.campaigns.file import read_campaign
from swelltree.describe.casefile.toml import parse_toml
from swelltree.describe.errors import shown

WHOLE = PENDULUM.replace("FORCES", "")
LINE = WHOLE.count("\n") + 1
HOSTILE = {
    "nested lists": ("x = " + "[" * 5000, "more than 32 brackets stand within one another"),
    "nested tables": ("x = " + "{ a = " * 5000, "more than 32 brackets"),
    "nested heads": ("[" * 5000, "more than 32 brackets"),
    "dotted key": ("a." * 50_000 + "b = 1", "a key has more than 8 parts: 'a.a.a"),
    "quoted dotted key": ("'a' . " * 50_000 + "b = 1", "a key has more than 8 parts"),
    "dotted head": ("[" + "a." * 50_000 + "b]", "a key has more than 8 parts"),
    "huge integer": ("x = " + "9" * 5000, "is not an integer of 64 bits"),
    "large integer": ("x = -9223372036854775809", "'-9223372036854775809' is not an integer of 64"),
    "hexadecimal": ("x = 0x" + "f" * 17, "is not an integer of 64 bits"),
}


@pytest.mark.parametrize(("text", "message"), HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("what", ["case", "campaign"])
def test_a_hostile_description_is_a_message_with_file_and_line(tmp_path, text, message, what):
    file = tmp_path / "hostile.toml"
    file.write_text(f"{WHOLE}{text}\n")
    tracemalloc.start()
    with pytest.raises(
        sw.SwelltreeError, match=f"hostile.toml, line {LINE}: .*{message}"
    ) as reported:
        sw.load(file) if what == "case" else read_campaign(file)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 20e6
    assert len(str(reported.value)) < 600


def test_many_dots_are_counted():
    text = "".join(f"a{k}.b.c.d.e.f = 1\n" for k in range(30_000))
    with pytest.raises(sw.SwelltreeError, match=r"case, line 20001: .* more than 100000 dots"):
        parse_toml(text, "case")


def test_what_only_looks_hostile_is_read():
    brackets = "[" * 100
    text = f"""
    s = "{brackets}"  # {brackets}
    t = \'\'\'{brackets}\'\'\'
    u = \"\"\"{brackets} \\\" \"\"\"
    v = 'a.a.a.a.a.a.a.a.a.a.a.a.a = 1'
    w = 0.12345678901234567890123456789
    x = 9223372036854775807
    y = -9223372036854775808
    z = [0x7fffffffffffffff, 1e300, 1979-05-27T07:32:00Z]
    a.b.c.d.e.f.g.h = 3
    """
    found = parse_toml(text, "case")
    assert found["s"] == brackets
    assert found["x"] == 2**63 - 1
    assert found["a"]["b"]["c"]["d"]["e"]["f"]["g"]["h"] == 3


def test_a_file_larger_than_any_description_is_not_read(tmp_path):
    file = tmp_path / "large.toml"
    with file.open("wb") as large:
        large.truncate(2**34)  # 16 GB that take no room on disk
    with pytest.raises(sw.SwelltreeError, match="it has 17179869184 bytes, more than the"):
        sw.load(file)


CAMPAIGN = '[campaign]\nname = "a"\ngallery = "rm3"\nduration = 9.0\n[[vary]]\n'


@pytest.mark.parametrize(
    ("vary", "message"),
    [
        (
            'type = "seeds"\ncount = 1_000_000_000_000',
            "count 1000000000000 is more than the 10000000",
        ),
        ('type = "seeds"\ncount = 1e12', "count 1000000000000 is more than the 10000000 cases"),
        (
            'type = "seeds"\ncount = 2\nfirst = 9007199254740992',
            "first 9007199254740992 is so large",
        ),
        (
            'type = "sample"\nranges = { "Hs" = [1, 2] }\ncount = 1e15',
            "count 1000000000000000 is more than",
        ),
    ],
)
def test_more_cases_than_any_campaign_has_are_told_before_they_are_made(tmp_path, vary, message):
    file = tmp_path / "many.toml"
    file.write_text(CAMPAIGN + vary)
    tracemalloc.start()
    with pytest.raises(sw.SwelltreeError, match=f"many.toml, line 5: .*{message}"):
        read_campaign(file)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 20e6


def test_a_wrong_number_of_thousands_of_digits_has_a_message():
    with pytest.raises(sw.SwelltreeError, match="mass has too many digits"):
        sw.Body("b", mass=10**5000)
    assert shown(10**5000) == "an integer of about 5001 digits"
    assert shown([10**5000]) == "[an integer of about 5001 digits]"
