"""swelltree: multibody systems at sea, described, compiled, solved, shown.

Public names are loaded when first used, so that describing a system costs no JAX.
"""

import sys

if getattr(sys, "argv", [""])[:1] and sys.argv[0].endswith(("/swelltree", "\\swelltree.exe")):
    __import__("swelltree.command")  # the keyboard ends the command while it imports, too

from typing import TYPE_CHECKING

from swelltree.jit import after_import
from swelltree.results.light_xarray import leave_dask_out

if TYPE_CHECKING:
    from swelltree import gallery as gallery
    from swelltree.campaigns.campaign import Campaign as Campaign
    from swelltree.campaigns.file import load_campaign as load_campaign
    from swelltree.campaigns.opened import open_campaign as open_campaign
    from swelltree.campaigns.vary import Sample as Sample
    from swelltree.campaigns.vary import ScatterDiagram as ScatterDiagram
    from swelltree.campaigns.vary import Seeds as Seeds
    from swelltree.campaigns.vary import Together as Together
    from swelltree.campaigns.vary import Values as Values
    from swelltree.compiler.compile import compile as compile
    from swelltree.compiler.compile import compile_case as compile_case
    from swelltree.describe import *  # noqa: F403
    from swelltree.forces.own_effect import body_point as body_point
    from swelltree.forces.own_effect import effect as effect
    from swelltree.forces.own_effect import wrench_at as wrench_at
    from swelltree.hydro.bem.run import run_bem as run_bem
    from swelltree.hydro.data.mirrored import mirror_headings as mirror_headings
    from swelltree.hydro.data.report import hydro_report as hydro_report
    from swelltree.hydro.data.write import write_hydro as write_hydro
    from swelltree.hydro.drift.spectrum import slow_force_spectrum as slow_force_spectrum
    from swelltree.hydro.readers.read import read_hydro as read_hydro
    from swelltree.hydro.weak_scatterer.coefficients import (
        weak_scatterer_coefficients as weak_scatterer_coefficients,
    )
    from swelltree.interop.fmi.c_code import export_c as export_c
    from swelltree.interop.fmi.fmu import export_fmu as export_fmu
    from swelltree.interop.mjcf import read_mjcf as read_mjcf
    from swelltree.interop.moordyn.read import read_moordyn as read_moordyn
    from swelltree.interop.moordyn.write import write_moordyn as write_moordyn
    from swelltree.interop.moorpy import read_moorpy as read_moorpy
    from swelltree.interop.urdf import read_urdf as read_urdf
    from swelltree.interop.wecsim.reader import read_wecsim as read_wecsim
    from swelltree.model.capabilities import ExcitedByWaves as ExcitedByWaves
    from swelltree.model.capabilities import FeelsEnvironment as FeelsEnvironment
    from swelltree.model.capabilities import HasEvents as HasEvents
    from swelltree.model.capabilities import HasStates as HasStates
    from swelltree.model.effect import Channel as Channel
    from swelltree.model.effect import Effect as Effect
    from swelltree.model.effect import Loads as Loads
    from swelltree.model.model import Model as Model
    from swelltree.multibody.rows import CouplingLaw as CouplingLaw
    from swelltree.multibody.rows import coupling_law as coupling_law
    from swelltree.pto.laws.base import PtoLaw as PtoLaw
    from swelltree.pto.laws.base import pto_law as pto_law
    from swelltree.report import plots
    from swelltree.report.campaign_page import write_campaign_report as write_campaign_report
    from swelltree.report.export import export as export
    from swelltree.report.live.view import live as live
    from swelltree.report.report import write_report as write_report
    from swelltree.report.serve import view as view
    from swelltree.results.cases.power import annual_energy as annual_energy
    from swelltree.results.cases.power import power_matrix as power_matrix
    from swelltree.results.extremes import most_probable_maximum as most_probable_maximum
    from swelltree.results.extremes import peaks_over_threshold as peaks_over_threshold
    from swelltree.results.extremes import weibull_tail as weibull_tail
    from swelltree.results.fatigue import damage_equivalent as damage_equivalent
    from swelltree.results.fatigue import rainflow as rainflow
    from swelltree.results.files import load_result as load_result
    from swelltree.results.files import save as save
    from swelltree.results.line_fatigue import TN_CURVES as TN_CURVES
    from swelltree.results.line_fatigue import TNCurve as TNCurve
    from swelltree.results.line_fatigue import line_damage as line_damage
    from swelltree.results.line_ranges import line_ranges as line_ranges
    from swelltree.results.statistics import statistics as statistics
    from swelltree.studies.batch.batch import simulate_batch as simulate_batch
    from swelltree.studies.checks.check_physics import check_physics as check_physics
    from swelltree.studies.control.excitation_observer import (
        excitation_observer as excitation_observer,
    )
    from swelltree.studies.control.laws import controlled as controlled
    from swelltree.studies.control.laws import damping_law as damping_law
    from swelltree.studies.control.laws import reactive_law as reactive_law
    from swelltree.studies.control.laws import replayed as replayed
    from swelltree.studies.control.laws import tracking_law as tracking_law
    from swelltree.studies.control.optimal_control import optimal_control as optimal_control
    from swelltree.studies.control.predictive import with_mpc as with_mpc
    from swelltree.studies.control.report import control_report as control_report
    from swelltree.studies.design.gradient import gradient as gradient
    from swelltree.studies.design.objectives import mean_of as mean_of
    from swelltree.studies.design.objectives import rms_of as rms_of
    from swelltree.studies.design.objectives import smooth_max_of as smooth_max_of
    from swelltree.studies.design.optimise import optimise as optimise
    from swelltree.studies.linear.line_modes import line_modes as line_modes
    from swelltree.studies.linear.modes import modes as modes
    from swelltree.studies.linear.modes import modes_traced as modes_traced
    from swelltree.studies.linear.rao import rao as rao
    from swelltree.studies.linear.response import response as response
    from swelltree.studies.linear.state_space import state_space as state_space
    from swelltree.studies.periodic.steady_state import steady_state as steady_state
    from swelltree.studies.statics.equilibrium import equilibrium as equilibrium
    from swelltree.studies.statics.equilibrium import equilibrium_traced as equilibrium_traced
    from swelltree.studies.statics.mooring import mooring_stiffness as mooring_stiffness
    from swelltree.studies.statics.mooring import offset_curve as offset_curve
    from swelltree.studies.time.complementarity.traced import moored_start as moored_start
    from swelltree.studies.time.operability import linear_and_nonlinear as linear_and_nonlinear
    from swelltree.studies.time.operability import operability as operability
    from swelltree.studies.time.simulate import simulate as simulate
    from swelltree.studies.time.simulate import simulate_traced as simulate_traced
    from swelltree.studies.time.stepped.stepper import stepper as stepper
    from swelltree.waves import components as components
    from swelltree.waves import dispersion as dispersion
    from swelltree.waves import elevation as elevation
    from swelltree.waves import from_wavespectra as from_wavespectra
    from swelltree.waves import kinematics as kinematics
    from swelltree.waves import read_record as read_record
    from swelltree.waves import realise as realise
    from swelltree.waves import to_wavespectra as to_wavespectra

    plot = plots
    __version__: str

# module of each public name
_NAMES = {
    "swelltree.describe": """
        WORLD Body Point DhRow dh_chain Box Cylinder HorizontalCylinder
        Sphere Hemisphere Cone Axisymmetric Plate MeshFile Mesh Union HydroSpec RadiationFit Water
        System Topology
        Weld Hinge Slider Cylindrical Screw Universal Ball Planar Free SubsetJoint CableElement
        Distance RevoluteSpherical
        Table Harmonic Polynomial
        LinearPto CoulombPto EndStops HydraulicPto ConstantPressurePto DirectDrivePto
        MechanicalRectifierPto LatchingPto DeclutchingPto LinearMooring LinearDamping
        Line LineType Section Junction OnLine Rod Seabed DepthGrid SeabedContact
        chain wire_rope polyester mooring_polyester nylon polypropylene
        Winch ConstantTension HeaveCompensation Operation Stage
        QuadraticDrag BodyDrag MorisonMember WindDrag Rotor Immersion
        WeakScatterer
        UniformCurrent PowerLawCurrent CurrentTable CurrentGrid FlowField Wind
        SpringDamper JointForce AppliedForce OwnEffect Controller Fmu PointSensor DistanceSensor
        Coupling OwnCoupling Bushing BodyContact OwnLaw
        StillWater RegularWave StreamFunctionWave IrregularSea FocusedWave MeasuredWave GriddedSea
        SeaOf
        Jonswap Bretschneider PiersonMoskowitz OchiHubble Bimodal WhiteNoise SpectrumTable
        DirectionalTable Cos2s
        Case SimulateStudy EquilibriumStudy ModesStudy RaoStudy
        ResponseStudy SteadyStateStudy OptimalControlStudy OperabilityStudy ChannelLimit
        load loads case_schema
        SwelltreeError SwelltreeWarning
    """,
    "swelltree.hydro.readers.read": "read_hydro",
    "swelltree.hydro.data.report": "hydro_report",
    "swelltree.hydro.data.mirrored": "mirror_headings",
    "swelltree.hydro.data.write": "write_hydro",
    "swelltree.waves": """
        dispersion components realise elevation kinematics read_record
        from_wavespectra to_wavespectra
    """,
    "swelltree.hydro.bem.run": "run_bem",
    "swelltree.interop.fmi.c_code": "export_c",
    "swelltree.interop.fmi.fmu": "export_fmu",
    "swelltree.interop.mjcf": "read_mjcf",
    "swelltree.interop.moordyn.read": "read_moordyn",
    "swelltree.interop.urdf": "read_urdf",
    "swelltree.interop.moordyn.write": "write_moordyn",
    "swelltree.interop.moorpy": "read_moorpy",
    "swelltree.interop.wecsim.reader": "read_wecsim",
    "swelltree.compiler.compile": "compile compile_case",
    "swelltree.hydro.drift.spectrum": "slow_force_spectrum",
    "swelltree.model.model": "Model",
    "swelltree.model.capabilities": "ExcitedByWaves FeelsEnvironment HasEvents HasStates",
    "swelltree.model.effect": "Channel Effect Loads",
    "swelltree.hydro.weak_scatterer.coefficients": "weak_scatterer_coefficients",
    "swelltree.forces.own_effect": "effect body_point wrench_at",
    "swelltree.multibody.rows": "CouplingLaw coupling_law",
    "swelltree.pto.laws.base": "PtoLaw pto_law",
    "swelltree.studies.time.simulate": "simulate simulate_traced",
    "swelltree.studies.time.stepped.stepper": "stepper",
    "swelltree.studies.time.complementarity.traced": "moored_start",
    "swelltree.studies.batch.batch": "simulate_batch",
    "swelltree.studies.statics.equilibrium": "equilibrium equilibrium_traced",
    "swelltree.studies.design.gradient": "gradient",
    "swelltree.studies.design.optimise": "optimise",
    "swelltree.studies.design.objectives": "mean_of rms_of smooth_max_of",
    "swelltree.studies.linear.line_modes": "line_modes",
    "swelltree.studies.linear.modes": "modes modes_traced",
    "swelltree.studies.linear.rao": "rao",
    "swelltree.studies.linear.response": "response",
    "swelltree.studies.statics.mooring": "mooring_stiffness offset_curve",
    "swelltree.studies.control.optimal_control": "optimal_control",
    "swelltree.studies.control.laws": """
        controlled damping_law reactive_law tracking_law replayed
    """,
    "swelltree.studies.control.predictive": "with_mpc",
    "swelltree.studies.linear.state_space": "state_space",
    "swelltree.studies.control.report": "control_report",
    "swelltree.studies.control.excitation_observer": "excitation_observer",
    "swelltree.studies.time.operability": "operability linear_and_nonlinear",
    "swelltree.studies.periodic.steady_state": "steady_state",
    "swelltree.studies.checks.check_physics": "check_physics",
    "swelltree.campaigns.vary": "Values Together ScatterDiagram Seeds Sample",
    "swelltree.campaigns.campaign": "Campaign",
    "swelltree.campaigns.file": "load_campaign",
    "swelltree.campaigns.opened": "open_campaign",
    "swelltree.results.cases.power": "power_matrix annual_energy",
    "swelltree.results.extremes": """
        weibull_tail peaks_over_threshold most_probable_maximum
    """,
    "swelltree.results.fatigue": "rainflow damage_equivalent",
    "swelltree.results.files": "save load_result",
    "swelltree.results.line_fatigue": "TNCurve TN_CURVES line_damage",
    "swelltree.results.line_ranges": "line_ranges",
    "swelltree.results.statistics": "statistics",
    "swelltree.report": "plot",
    "swelltree.report.report": "write_report",
    "swelltree.report.campaign_page": "write_campaign_report",
    "swelltree.report.serve": "view",
    "swelltree.report.live.view": "live",
    "swelltree.report.export": "export",
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names.split()}

after_import("xarray", leave_dask_out)

_ROOMS = ("gallery",)  # public modules

__all__ = sorted([*_MODULE_OF, *_ROOMS])  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> object:
    import importlib

    if name == "__version__":
        from swelltree.jit import installed_version

        return installed_version("swelltree")
    if name in _ROOMS:
        return importlib.import_module(f"swelltree.{name}")
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'swelltree' has no attribute '{name}'")
    value = getattr(importlib.import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__all__", "__doc__", "__file__", "__name__", "__path__", "__version__"]
