"""swelltree: multibody systems at sea, described, compiled, solved, shown.

Public names are loaded when first used, so that describing a system costs no JAX.
"""

import sys

if getattr(sys, "argv", [""])[:1] and sys.argv[0].endswith(("/swelltree", "\\swelltree.exe")):
    __import__("swelltree.command")  # the keyboard ends the command while it imports, too

from typing import TYPE_CHECKING

from swelltree.jit.lazy_import import after_import
from swelltree.jit.light_xarray import leave_dask_out

if TYPE_CHECKING:
    from swelltree.describe import *  # noqa: F403

# module of each public name
_NAMES = {
    "swelltree.describe": """
        WORLD Body Point DhRow dh_chain Box Cylinder HorizontalCylinder
        Sphere Hemisphere Cone Axisymmetric Plate MeshFile Mesh Union HydroSpec RadiationFit Water
        System Topology
        Weld Hinge Slider Cylindrical Screw Universal Ball Planar Free SubsetJoint CableElement
        Distance RevoluteSpherical
        Table Harmonic Polynomial resolve
        LinearPto CoulombPto EndStops HydraulicPto ConstantPressurePto DirectDrivePto
        MechanicalRectifierPto LatchingPto DeclutchingPto LinearMooring LinearDamping
        Line LineType Section Junction OnLine Rod Seabed DepthGrid SeabedContact
        chain wire_rope polyester nylon polypropylene
        Winch ConstantTension HeaveCompensation Operation Stage
        QuadraticDrag BodyDrag MorisonMember WindDrag Rotor Immersion
        WeakScatterer
        UniformCurrent PowerLawCurrent CurrentTable CurrentGrid FlowField Wind
        SpringDamper JointForce AppliedForce OwnEffect Controller PointSensor DistanceSensor
        Coupling Bushing BodyContact OwnLaw
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
    "swelltree.interop.moordyn.read": "read_moordyn",
    "swelltree.interop.moordyn.write": "write_moordyn",
    "swelltree.interop.moorpy.read": "read_moorpy",
    "swelltree.interop.wecsim.reader": "read_wecsim",
    "swelltree.compiler.compile": "compile",
    "swelltree.compiler.case": "compile_case",
    "swelltree.hydro.drift.spectrum": "slow_force_spectrum",
    "swelltree.model.model": "Model",
    "swelltree.model.effect": "Effect Loads",
    "swelltree.hydro.weak_scatterer.coefficients": "weak_scatterer_coefficients",
    "swelltree.forces.own_effect": "effect body_point wrench_at",
    "swelltree.pto.laws.own": "PtoLaw pto_law",
    "swelltree.studies.time.simulate": "simulate simulate_traced",
    "swelltree.studies.time.stepped.stepper": "stepper",
    "swelltree.studies.time.complementarity.traced": "moored_start",
    "swelltree.studies.batch.batch": "simulate_batch",
    "swelltree.studies.statics.equilibrium": "equilibrium equilibrium_traced",
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
    "swelltree.studies.time.operability": "operability",
    "swelltree.studies.periodic.steady_state": "steady_state",
    "swelltree.studies.checks.check_physics": "check_physics",
    "swelltree.studies.time.compare": "linear_and_nonlinear",
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
        from swelltree.jit.fingerprint import installed_version

        return installed_version("swelltree")
    if name in _ROOMS:
        return importlib.import_module(f"swelltree.{name}")
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'swelltree' has no attribute '{name}'")
    value = getattr(importlib.import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF, *_ROOMS})
