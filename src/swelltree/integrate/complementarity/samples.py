"""What a step reports about the instant it leaves."""

from __future__ import annotations

from dataclasses import field

from swelltree.integrate.complementarity.lines.report import LineReport
from swelltree.jit import Array, Tree, pytree
from swelltree.model.capabilities import InternalState
from swelltree.multibody.kinematics import Pose


@pytree()
class Sample:
    """What is known of an instant once the step that leaves it is solved."""

    t: Array
    pose: Pose
    v: Array  # (N, 6) mean velocity
    v_dot: Array  # (N, 6)
    angles: Array
    internal: InternalState
    lam: Array
    contact: Array  # (k,) normal forces of the seabed
    contact_force: Array  # (k, 3) friction included
    tie: Array  # (tie, 3) forces of ties on the ends of lines
    tie_point: Array  # (tie, 3) where they hold
    work: Array
    lines: Tree  # LineSample, or None
    iterations: Array
    error: Array  # largest residual before the last correction [m, rad]
    solved: Array  # whether Newton's method converged
    extremes: Tree = field(default_factory=dict)  # {channel: values} since the last sample


@pytree()
class LineSample:
    """State of the lines at an instant."""

    q: Array  # (line, node, 3)
    v: Array  # (line, node, 3)
    nu: Array  # (line, node) N, force of the bed
    report: LineReport  # tensions, flags and energies now
    y: Array  # (junction, 3)
    impulse: Array  # (line, segment) N s, of the tension over `span`
    span: Array  # s, this step and those since the last sample
    winch: Tree = None  # winch_step.WinchSample, or None
    most: Array | None = None  # (line, segment) N, max mean tension so far, of original curves
