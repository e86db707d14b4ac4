"""A small FMU in C: a PI controller that can fail in several ways."""

import subprocess
import zipfile
from pathlib import Path

from made_device import COMPILER

GUID = "{5f2c1f0a-0000-4000-8000-000000000001}"

# F = -kp x - ki z - kd v, where z sums dt x; x, v, F, kp, ki, kd, fault and fault_time by number
SOURCE = """
#include <math.h>
#include <stdlib.h>
#include <string.h>
typedef struct { double value[9], z, time; } unit;
enum { X, V, F, KP, KI, KD, FAULT, WHEN, POWER };
#define REFS void *c, const unsigned r[], size_t n
const char *fmi2GetTypesPlatform(void) { return "default"; }
const char *fmi2GetVersion(void) { return "2.0"; }
int fmi2SetDebugLogging(void *c, int on, size_t n, const char *const names[]) { return 0; }
void *fmi2Instantiate(const char *a, int t, const char *g, const char *b, void *d, int e, int f)
{
    unit *u = calloc(1, sizeof *u);
    u->value[KP] = 6.0; u->value[KI] = 1.5; u->value[KD] = 2.0;
    return u;
}
void fmi2FreeInstance(void *c) { free(c); }
int fmi2SetupExperiment(void *c, int a, double b, double start, int d, double e)
{ ((unit *)c)->time = start; return 0; }
int fmi2EnterInitializationMode(void *c) { return 0; }
int fmi2ExitInitializationMode(void *c) { return 0; }
int fmi2Terminate(void *c) { return 0; }
int fmi2Reset(void *c) { return 0; }
int fmi2GetReal(REFS, double v[])
{
    unit *u = c;
    double *x = u->value;
    x[F] = -x[KP] * x[X] - x[KI] * u->z - x[KD] * x[V];
    if (x[FAULT] == 4.0 && u->time >= x[WHEN]) x[F] = NAN;
    x[POWER] = x[F] * x[V];
    while (n--) v[n] = x[r[n]];
    return 0;
}
int fmi2SetReal(REFS, const double v[]) { while (n--) ((unit *)c)->value[r[n]] = v[n]; return 0; }
int fmi2DoStep(void *c, double from, double h, int no_return)
{
    unit *u = c;
    int fault = u->time + h >= u->value[WHEN] ? (int)u->value[FAULT] : 0;
    if (fault == 1) abort();
    if (fault == 2) for (;;) ;
    if (fault == 3 || fabs(from - u->time) > 1e-9) return 3;
    u->z += h * u->value[X];
    u->time = from + h;
    return 0;
}
#define OTHER(type, name) \\
    int fmi2Get##name(REFS, type v[]) { return 3; } \\
    int fmi2Set##name(REFS, const type v[]) { return 3; }
OTHER(int, Integer) OTHER(int, Boolean) OTHER(char *, String)
int fmi2GetFMUstate(void *c, void **s)
{ if (!*s) *s = malloc(sizeof(unit)); memcpy(*s, c, sizeof(unit)); return 0; }
int fmi2SetFMUstate(void *c, void *s) { memcpy(c, s, sizeof(unit)); return 0; }
int fmi2FreeFMUstate(void *c, void **s) { free(*s); *s = NULL; return 0; }
int fmi2SerializedFMUstateSize(void *c, void *s, size_t *n) { *n = sizeof(unit); return 0; }
int fmi2SerializeFMUstate(void *c, void *s, char *b, size_t n)
{ memcpy(b, s, sizeof(unit)); return 0; }
int fmi2DeSerializeFMUstate(void *c, const char *b, size_t n, void **s)
{ if (!*s) *s = malloc(sizeof(unit)); memcpy(*s, b, sizeof(unit)); return 0; }
int fmi2GetDirectionalDerivative(void *c) { return 3; }
int fmi2SetRealInputDerivatives(void *c) { return 3; }
int fmi2GetRealOutputDerivatives(void *c) { return 3; }
int fmi2CancelStep(void *c) { return 3; }
int fmi2GetStatus(void *c) { return 3; }
int fmi2GetRealStatus(void *c) { return 3; }
int fmi2GetIntegerStatus(void *c) { return 3; }
int fmi2GetBooleanStatus(void *c) { return 3; }
int fmi2GetStringStatus(void *c) { return 3; }
"""

NAMES = ("x", "v", "F", "kp", "ki", "kd", "fault", "fault_time", "power")


def pi_fmu(path, saves=True, kind="CoSimulation"):
    """The controller as an FMU.

    Args:
        path: of the file.
        saves: whether it says that it can save its state.
        kind: "CoSimulation" or "ModelExchange".
    """
    folder = Path(path).parent / "pi_source"
    folder.mkdir(exist_ok=True)
    library = folder / "pi.so"
    if not library.exists():
        (folder / "pi.c").write_text(SOURCE)
        command = [COMPILER, "-O1", "-w", "-shared", "-fPIC", "pi.c", "-o", "pi.so", "-lm"]
        subprocess.run(command, cwd=folder, check=True)
    rows = []
    for k, name in enumerate(NAMES):
        causality = "input" if k < 2 else "output" if name in ("F", "power") else "parameter"
        kinds = {"parameter": "tunable"}.get(causality, "continuous")
        start = "" if causality == "output" else ' start="0"'
        rows.append(
            f'<ScalarVariable name="{name}" valueReference="{k}" causality="{causality}" '
            f'variability="{kinds}"><Real{start}/></ScalarVariable>'
        )
    saving = 'canGetAndSetFMUstate="true" canSerializeFMUstate="true"' if saves else ""
    text = (
        f'<?xml version="1.0"?><fmiModelDescription fmiVersion="2.0" modelName="pi" guid="{GUID}">'
        f'<{kind} modelIdentifier="pi" {saving}/><ModelVariables>{"".join(rows)}</ModelVariables>'
        '<ModelStructure><Outputs><Unknown index="3"/><Unknown index="9"/></Outputs>'
        "</ModelStructure></fmiModelDescription>"
    )
    with zipfile.ZipFile(path, "w") as parts:
        parts.writestr("modelDescription.xml", text)
        parts.write(library, "binaries/linux64/pi.so")
    return Path(path)
