"""The words of WEC-Sim: how older versions called fields, and which of them only steer it.

Fields are written with dots: "initial.displacement". A field that is neither read by the
translation nor in `SILENT` is reported as not translated.
"""

from __future__ import annotations

# names before version 5 and those of today
OLD = {
    "simu": {
        "rampT": "rampTime",
        "CITime": "cicEndTime",
        "dtCITime": "cicDt",
        "ssCalc": "stateSpace",
        "g": "gravity",
        "mcrCaseFile": "mcrMatFile",
    },
    "waves": {
        "H": "height",
        "T": "period",
        "waveDir": "direction",
        "waveSpread": "spread",
        "spectrumDataFile": "spectrumFile",
        "etaDataFile": "elevationFile",
        "freqDisc": "bem.option",
        "numFreq": "bem.count",
        "freqRange": "bem.range",
    },
    "body": {
        "momOfInertia": "inertia",
        "cg": "centerGravity",
        "cb": "centerBuoyancy",
        "dispVol": "volume",
        "viscDrag.cd": "quadDrag.cd",
        "viscDrag.characteristicArea": "quadDrag.area",
        "viscDrag.Drag": "quadDrag.drag",
        "nhBody": "nonHydro",
        "nlHydro": "nonlinearHydro",
        "morrisonElement": "morisonElement",
    },
    "pto": {"k": "stiffness", "c": "damping"},
    "mooring": {"ref": "location", "matrix.k": "matrix.stiffness", "matrix.c": "matrix.damping"},
}
for _name in ("body", "constraint", "pto", "mooring", "cable"):
    OLD.setdefault(_name, {}).update(
        {
            "loc": "location",
            "initDisp.initLinDisp": "initial.displacement",
            "initDisp.initAngularDispAxis": "initial.axis",
            "initDisp.initAngularDispAngle": "initial.angle",
        }
    )

# they steer the solver, the screen and the files of WEC-Sim, and change no physics here
SILENT = {
    "simu": (
        *(
            "simMechanicsFile",
            "mode",
            "explorer",
            "solver",
            "dtMax",
            "domainSize",
            "cicEndTime",
            "cicDt",
        ),
        *("stateSpace", "paraview", "outputDir", "outputtxt", "saveStructure", "saveText"),
        *("saveWorkspace", "reloadHydroData", "reloadH5Data", "pressureDis", "pressure"),
        *("numIntMidTimeSteps", "adjMassFactor", "adjMassWeightFun", "rateTransition"),
        *("autoRateTranBlk", "zeroCross", "zeroCrossCont", "nonlinearDt", "dtFeNonlin"),
        *("morisonDt", "dtME", "animation", "logFile", "saveMat", "caseDir"),
        *("mcrMatFile", "mcrExcelFile"),
    ),
    "waves": ("marker", "viz", "markerLoc", "markerSize", "markerStyle"),
    "body": ("viz", "paraview", "adjMassFactor", "bodyparaview", "geometryFile"),
    "constraint": ("extension",),
    "pto": ("extension",),
    "mooring": ("moorDyn", "moorDynLines", "moorDynNodes", "initial"),
    "cable": ("viz", "paraview"),
}
NAMES = ("simu", "waves", "body", "constraint", "pto", "mooring", "cable", "ptoSim", "controller")
