"""The reader of MATLAB scripts: what input scripts use, with the line of what it cannot read."""

import re

import numpy as np
import pytest

from mutants import bounded
from swelltree.interop.wecsim.script import Script


def value(text, name="x"):
    script = Script(text)
    assert script.unread == {}
    found = script.variables[name]
    return found.tolist() if isinstance(found, np.ndarray) else found


@pytest.mark.parametrize(
    ("text", "requested"),
    [
        ("x = [1 -2];", [[1, -2]]),
        ("x = [1 - 2];", [[-1]]),
        ("x = [1 -2 - 3 4];", [[1, -5, 4]]),
        ("x = [0 0 -21.29-.21]", [[0, 0, -21.5]]),
        ("x = [1, 2; 3 4]';", [[1, 3], [2, 4]]),
        ("x = [1 2\n3 4];", [[1, 2], [3, 4]]),
        ("x = [1 2 ... rest\n 3];", [[1, 2, 3]]),
        ("a = [1 2]; x = [a' a'];", [[1, 1], [2, 2]]),
        ("x = 1.5:1:3.5;", [[1.5, 2.5, 3.5]]),
        ("x = 0:0.1:0.3;", [pytest.approx([0, 0.1, 0.2, 0.3], abs=1e-15)]),
        ("x = 5:-2:1;", [[5, 3, 1]]),
        ("x = 3:1;", [[]]),
        ("x = -2^2;", [[-4]]),
        ("x = 2^-1;", [[0.5]]),
        ("x = 2^3^2;", [[64]]),  # from left to right in MATLAB
        ("x = -pi/4*1e-1;", [[pytest.approx(-np.pi / 40)]]),
        ("x = 2.*[1 2].^2;", [[2, 8]]),
        ("x = 6./[1 2 3];", [[6, 3, 2]]),
        ("x = [1 2;3 4]*[1;1];", [[3], [7]]),
        ("x = sqrt(atan2(1,1)*4/pi) + abs(-1) + max([1 5 2]);", [[7]]),
        ("x = sind(30) + cos(0) + exp(0) + log(1) + mod(-1,3);", [[pytest.approx(4.5)]]),
        ("x = zeros(2,1); x(3,2) = 7;", [[0, 0], [0, 0], [0, 7]]),
        ("x(1:3) = 16; x(4:6) = 6;", [[16, 16, 16, 6, 6, 6]]),
        ("x = eye(2) + ones(2)*2;", [[3, 2], [2, 3]]),
        ("x = linspace(0,1,3);", [[0, 0.5, 1]]),
        ("a = [1 2 3]; x = a(end) + a(end-1);", [[5]]),
        ("a = [1 2; 3 4]; x = a(2,:);", [[3, 4]]),
        ("a = [1 2; 3 4]; x = a(:)';", [[1, 3, 2, 4]]),
        ("x = reshape([1 2 3 4],[],2);", [[1, 3], [2, 4]]),
        ("[~,x] = meshgrid(1:2,5:6);", [[5, 5], [6, 6]]),
        ("x = norm([3 4]) + dot([1 2],[3 4]) + numel([1 2 3]);", [[19]]),
        ("x = 'it''s';", "it's"),
        ('x = "a" + 0;', None),
        ("x = ['a' 'bc'];", "abc"),
        ("c = {1, 'two', [3 4]}; x = c{3};", [[3, 4]]),
        ("s.a.b(2) = 3; x = s.a.b;", [[0, 3]]),
        ("b(2).m = 4; x = b(2).m;", [[4]]),
        ("if 2 > 1 && ~isempty([1]), x = 1; else, x = 2; end", [[1]]),
        ("if 0\nx = 1;\nelseif strcmp('a','a')\nx = 5;\nend", [[5]]),
        ("x = 0;\nfor k = [1 2 3]\n  x = x + k;\nend", [[6]]),
        ("%{\nx = 1;\n%}\nx = 2; % x = 3", [[2]]),
        ("x = 1, y = 2; z = 3", [[1]]),
        ("x = 1e3d0;", None),
        ("x = true + false + 1d2;", [[101]]),
        ("clear all; close all; clc\nx = 4; fprintf('%d', x);", [[4]]),
    ],
)
def test_scripts_say_what_matlab_says(text, requested):
    if requested is None:
        assert Script(text).unread
    else:
        assert value(text) == requested


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("x = 1;\ny = @(t) t;", 2, "user functions"),
        ("\n\nwhile 1\n x = 2;\nend\nz = 1;", 3, "'while' is not supported"),
        ("x = evalin('base','y');", 1, "'evalin' is not known"),
        ("x = system('touch /tmp/x');", 1, "'system' is not known"),
        ("x = __import__;", 1, "stands where a value is expected"),
        ("load('table.mat');", 1, "'load' is not supported"),
        ("x = [1 2", 1, r"'\]' is missing"),
        ("x = 'open", 1, "no closing quote"),
        ("x = 'it''s", 1, "no closing quote"),
        ("x = 1 2;", 1, "not expected here"),
        ("x = [1 2; 3];", 1, "rows of a matrix differ"),
        ("x = [1 2] + [1 2 3];", 1, "do not fit"),
        ("x = [1 2](5);", 1, "not expected here"),
        ("a = 1; x = a(2);", 1, "beyond the 1 values"),
        ("x = zeros(1e6, 1e6);", 1, "too large"),
        ("x = 1:1e12;", 1, "too large"),
        ("x(1e9) = 1;", 1, "too large"),
        ("x = repmat(ones(1000),1000,1000);", 1, "too large"),
        ("x = " + "(" * 500 + "1" + ")" * 500, 1, "deep"),
        ("x = " + "-" * 500 + "1", 1, "too many signs"),
        ("x = 1" + "+1" * 5000, 1, "operators in a row"),
        ("x = " + "{" * 20 + "1" + "+1" * 50 + "}" * 20, 0, ""),
        ("for k = 1:1000000\nx = k;\nend", 2, "more than 5000 steps"),
        ("x = y.z;", 1, "'y' is not known"),
        ("body(0).mass = 1;", 1, "number 0"),
        ("end", 1, "closes nothing"),
        ("for k=1:2\nx = k;", 1, "'end' of the block is missing"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line(text, line, why):
    with bounded():
        script = Script(text)
    assert list(script.unread) == ([line] if line else [])
    assert re.search(why, script.unread.get(line, "")), script.unread


def test_reading_goes_on_after_what_cannot_be_read():
    script = Script("a = evil(1);\nb = a + 1;\nc = 3;\nwhile c\n if 1\n end\nend\nd = 4;")
    assert sorted(script.unread) == [1, 2, 4]
    assert "'a' was not read in line 1" in script.unread[2]
    assert script.variables["c"].item() == 3
    assert script.variables["d"].item() == 4


def test_objects_keep_the_line_of_every_field():
    script = Script("body(1) = bodyClass('a.h5');\nbody(1).mass = 3;\n\nbody(1).mass = 4;")
    (body,) = script.objects("body").values()
    assert (body.created_by, body.arguments, body.line) == ("bodyClass", ("a.h5",), 1)
    assert body.fields["mass"].item() == 4
    assert body.lines["mass"] == 4


def test_work_of_a_script_is_bounded():
    with bounded():
        script = Script("for k=1:10000\nx = ones(1000,1000);\nend")
    assert "computes more" in script.unread[2]


def test_a_copy_with_another_value_leaves_the_script_as_it_was():
    script = Script("pto(2).damping = [1 2];")
    other = script.changed([("pto(2).damping", 7.0)])
    assert other.objects("pto")[2].fields["damping"].item() == 7.0
    assert script.objects("pto")[2].fields["damping"].tolist() == [[1, 2]]
    assert script.is_place("waves.height")
    assert not script.is_place("x = 1; waves.height")
