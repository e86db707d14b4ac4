"""What the user describes: bodies, joints, forces, controllers, sensors, water, seas, case files.

No JAX here, so describing and checking a system is quick.
"""

from swelltree.system.bodies import WORLD, Body, Point
from swelltree.system.casefile import Case, case_schema, load, loads
from swelltree.system.controllers import Controller, Measure, parse_measure
from swelltree.system.currents import (
    Current,
    CurrentTable,
    FlowField,
    PowerLawCurrent,
    UniformCurrent,
    Wind,
)
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
from swelltree.system.immersion import Immersion
from swelltree.system.joints import (
    Ball,
    CableElement,
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
from swelltree.system.limits import ChannelLimit
from swelltree.system.line_types import LineType, chain, nylon, polyester, wire_rope
from swelltree.system.lines import Junction, Line, OnJunction, OnLine, Section
from swelltree.system.moorings import LinearDamping, LinearMooring
from swelltree.system.operations import Operation, Stage
from swelltree.system.pto_base import Pto
from swelltree.system.pto_machines import (
    ConstantPressurePto,
    DirectDrivePto,
    HydraulicPto,
    MechanicalRectifierPto,
)
from swelltree.system.pto_switching import DeclutchingPto, LatchingPto
from swelltree.system.ptos import CoulombPto, EndStops, LinearPto
from swelltree.system.radiation import RadiationFit
from swelltree.system.rods import Rod
from swelltree.system.seabed import DepthGrid, Seabed, SeabedContact
from swelltree.system.seas import (
    FocusedWave,
    GriddedSea,
    IrregularSea,
    MeasuredWave,
    RegularWave,
    Sea,
    SeaOf,
    StillWater,
    StreamFunctionWave,
)
from swelltree.system.sensors import DistanceSensor, PointSensor, Sensor
from swelltree.system.signals import Harmonic, Polynomial, Signal, Table, resolve
from swelltree.system.spectra import (
    Bimodal,
    Bretschneider,
    Cos2s,
    DirectionalTable,
    Jonswap,
    OchiHubble,
    PiersonMoskowitz,
    Spectrum,
    SpectrumTable,
    WhiteNoise,
)
from swelltree.system.studies import (
    FORMULATIONS,
    SOLVERS,
    EquilibriumStudy,
    ModesStudy,
    OptimalControlStudy,
    RaoStudy,
    ResponseStudy,
    SimulateStudy,
    SteadyStateStudy,
    Study,
)
from swelltree.system.study_operability import OperabilityStudy
from swelltree.system.system import System
from swelltree.system.topology import Topology, find_topology
from swelltree.system.values import DOFS
from swelltree.system.viscous import BodyDrag, MorisonMember, QuadraticDrag, WindDrag
from swelltree.system.water import Water
from swelltree.system.winches import ConstantTension, HeaveCompensation, Winch

__all__ = [
    "DOFS",
    "FORMULATIONS",
    "SOLVERS",
    "WORLD",
    "AppliedForce",
    "Axisymmetric",
    "Ball",
    "Bimodal",
    "Body",
    "BodyDrag",
    "Box",
    "Bretschneider",
    "CableElement",
    "Case",
    "ChannelLimit",
    "Cone",
    "ConstantPressurePto",
    "ConstantTension",
    "Controller",
    "Cos2s",
    "CoulombPto",
    "Current",
    "CurrentTable",
    "Cylinder",
    "Cylindrical",
    "DeclutchingPto",
    "DepthGrid",
    "DhRow",
    "DirectDrivePto",
    "DirectionalTable",
    "Distance",
    "DistanceSensor",
    "EndStops",
    "EquilibriumStudy",
    "FlowField",
    "FocusedWave",
    "Force",
    "Free",
    "GriddedSea",
    "Harmonic",
    "HeaveCompensation",
    "Hemisphere",
    "Hinge",
    "HorizontalCylinder",
    "Hull",
    "HydraulicPto",
    "HydroSpec",
    "Immersion",
    "IrregularSea",
    "Joint",
    "JointForce",
    "JointLayout",
    "Jonswap",
    "Junction",
    "LatchingPto",
    "Line",
    "LineType",
    "LinearDamping",
    "LinearMooring",
    "LinearPto",
    "Measure",
    "MeasuredWave",
    "MechanicalRectifierPto",
    "MeshFile",
    "ModesStudy",
    "MorisonMember",
    "OchiHubble",
    "OmegaRange",
    "OnJunction",
    "OnLine",
    "OperabilityStudy",
    "Operation",
    "OptimalControlStudy",
    "PiersonMoskowitz",
    "Planar",
    "Plate",
    "Point",
    "PointSensor",
    "Polynomial",
    "PowerLawCurrent",
    "Pto",
    "QuadraticDrag",
    "RadiationFit",
    "RaoStudy",
    "RegularWave",
    "ResponseStudy",
    "RevoluteSpherical",
    "Rod",
    "Screw",
    "Sea",
    "SeaOf",
    "Seabed",
    "SeabedContact",
    "Section",
    "Sensor",
    "Signal",
    "SimulateStudy",
    "Slider",
    "Spectrum",
    "SpectrumTable",
    "Sphere",
    "SpringDamper",
    "Stage",
    "SteadyStateStudy",
    "StillWater",
    "StreamFunctionWave",
    "Study",
    "SubsetJoint",
    "SwelltreeError",
    "SwelltreeWarning",
    "System",
    "Table",
    "Topology",
    "UniformCurrent",
    "Union",
    "Universal",
    "Water",
    "Weld",
    "WhiteNoise",
    "Winch",
    "Wind",
    "WindDrag",
    "case_schema",
    "chain",
    "dh_chain",
    "find_topology",
    "load",
    "loads",
    "nylon",
    "parse_measure",
    "polyester",
    "resolve",
    "suggest",
    "wire_rope",
]
