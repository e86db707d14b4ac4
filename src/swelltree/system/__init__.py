"""What the user describes: bodies, joints, forces, controllers, sensors, water, seas, case files.

No JAX here, so describing and checking a system is quick.
"""

from swelltree.system.bodies.body import WORLD, Body, Point
from swelltree.system.bodies.denavit_hartenberg import DhRow, dh_chain
from swelltree.system.bodies.hulls import (
    Axisymmetric,
    Box,
    Cone,
    Cylinder,
    Hemisphere,
    HorizontalCylinder,
    Hull,
    Mesh,
    MeshFile,
    Plate,
    Sphere,
    Union,
)
from swelltree.system.casefile.case import Case, case_schema, load, loads
from swelltree.system.casefile.limits import ChannelLimit
from swelltree.system.casefile.studies import (
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
from swelltree.system.casefile.study_operability import OperabilityStudy
from swelltree.system.errors import SwelltreeError, SwelltreeWarning, suggest
from swelltree.system.forces.body_contacts import BodyContact
from swelltree.system.forces.bushings import Bushing
from swelltree.system.forces.controllers import Controller, Measure, parse_measure
from swelltree.system.forces.elements import AppliedForce, Force, JointForce, SpringDamper
from swelltree.system.forces.immersion import Immersion
from swelltree.system.forces.own_effects import OwnEffect
from swelltree.system.forces.rotors import Rotor
from swelltree.system.forces.sensors import DistanceSensor, PointSensor, Sensor
from swelltree.system.forces.signals import Harmonic, Polynomial, Signal, Table, resolve
from swelltree.system.forces.viscous import BodyDrag, MorisonMember, QuadraticDrag, WindDrag
from swelltree.system.forces.weak_scatterer import WeakScatterer
from swelltree.system.joints.couplings import Coupling
from swelltree.system.joints.kinds import (
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
from swelltree.system.lines.line import Junction, Line, OnJunction, OnLine, Section
from swelltree.system.lines.line_types import (
    LineType,
    chain,
    nylon,
    polyester,
    polypropylene,
    wire_rope,
)
from swelltree.system.lines.moorings import LinearDamping, LinearMooring
from swelltree.system.lines.operations import Operation, Stage
from swelltree.system.lines.rods import Rod
from swelltree.system.lines.seabed import DepthGrid, Seabed, SeabedContact
from swelltree.system.lines.winches import ConstantTension, HeaveCompensation, Winch
from swelltree.system.ptos.base import Pto
from swelltree.system.ptos.kinds import CoulombPto, EndStops, LinearPto
from swelltree.system.ptos.machines import (
    ConstantPressurePto,
    DirectDrivePto,
    HydraulicPto,
    MechanicalRectifierPto,
)
from swelltree.system.ptos.own import OwnLaw
from swelltree.system.ptos.switching import DeclutchingPto, LatchingPto
from swelltree.system.system import System
from swelltree.system.topology import Topology, find_topology
from swelltree.system.values import DOFS
from swelltree.system.waters.currents import (
    Current,
    CurrentGrid,
    CurrentTable,
    FlowField,
    PowerLawCurrent,
    UniformCurrent,
    Wind,
)
from swelltree.system.waters.hydro import HydroSpec, OmegaRange
from swelltree.system.waters.radiation import RadiationFit
from swelltree.system.waters.seas import (
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
from swelltree.system.waters.spectra import (
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
from swelltree.system.waters.water import Water

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
    "BodyContact",
    "BodyDrag",
    "Box",
    "Bretschneider",
    "Bushing",
    "CableElement",
    "Case",
    "ChannelLimit",
    "Cone",
    "ConstantPressurePto",
    "ConstantTension",
    "Controller",
    "Cos2s",
    "CoulombPto",
    "Coupling",
    "Current",
    "CurrentGrid",
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
    "Mesh",
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
    "OwnEffect",
    "OwnLaw",
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
    "Rotor",
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
    "WeakScatterer",
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
    "polypropylene",
    "resolve",
    "suggest",
    "wire_rope",
]
