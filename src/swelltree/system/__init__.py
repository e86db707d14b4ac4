"""What the user describes: bodies, joints, forces, controllers, sensors, water, case files.

No JAX here, so describing and checking a system is quick.
"""

from swelltree.system.bodies import WORLD, Body, Point
from swelltree.system.casefile import Case, case_schema, load, loads
from swelltree.system.controllers import Controller, Measure, parse_measure
from swelltree.system.denavit_hartenberg import DhRow, dh_chain
from swelltree.system.errors import SwelltreeError, SwelltreeWarning, suggest
from swelltree.system.forces import AppliedForce, Force, JointForce, SpringDamper
from swelltree.system.hulls import (
    Axisymmetric,
    Box,
    Cone,
    Cylinder,
    Hemisphere,
    HorizontalCylinder,
    Hull,
    MeshFile,
    Plate,
    Sphere,
    Union,
)
from swelltree.system.hydro import HydroSpec, OmegaRange
from swelltree.system.joints import (
    Ball,
    Cylindrical,
    Distance,
    Free,
    Hinge,
    Joint,
    JointLayout,
    Planar,
    RevoluteSpherical,
    Screw,
    Slider,
    SubsetJoint,
    Universal,
    Weld,
)
from swelltree.system.sensors import DistanceSensor, PointSensor, Sensor
from swelltree.system.signals import Harmonic, Polynomial, Signal, Table, resolve
from swelltree.system.studies import (
    FORMULATIONS,
    SOLVERS,
    EquilibriumStudy,
    ModesStudy,
    SimulateStudy,
    Study,
)
from swelltree.system.system import System
from swelltree.system.topology import Topology, find_topology
from swelltree.system.values import DOFS
from swelltree.system.water import Water

__all__ = [
    "DOFS",
    "FORMULATIONS",
    "SOLVERS",
    "WORLD",
    "AppliedForce",
    "Axisymmetric",
    "Ball",
    "Body",
    "Box",
    "Case",
    "Cone",
    "Controller",
    "Cylinder",
    "Cylindrical",
    "DhRow",
    "Distance",
    "DistanceSensor",
    "EquilibriumStudy",
    "Force",
    "Free",
    "Harmonic",
    "Hemisphere",
    "Hinge",
    "HorizontalCylinder",
    "Hull",
    "HydroSpec",
    "Joint",
    "JointForce",
    "JointLayout",
    "Measure",
    "MeshFile",
    "ModesStudy",
    "OmegaRange",
    "Planar",
    "Plate",
    "Point",
    "PointSensor",
    "Polynomial",
    "RevoluteSpherical",
    "Screw",
    "Sensor",
    "Signal",
    "SimulateStudy",
    "Slider",
    "Sphere",
    "SpringDamper",
    "Study",
    "SubsetJoint",
    "SwelltreeError",
    "SwelltreeWarning",
    "System",
    "Table",
    "Topology",
    "Union",
    "Universal",
    "Water",
    "Weld",
    "case_schema",
    "dh_chain",
    "find_topology",
    "load",
    "loads",
    "parse_measure",
    "resolve",
    "suggest",
]
