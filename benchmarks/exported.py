"""Exported devices: time of one step of the C code, as a loop in C takes it.

An irregular sea, rk4 with steps of 10 ms, another force of the first PTO in each step, the heave of
the first body read. `python benchmarks/exported.py` exports the devices, compiles a loop with the C
compiler, and prints one line of JSON, CPU time of the best of five rounds of 4,000 steps: mean of a
step [us], the longest one, in which wave loads are summed [us], and the size of the object.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from pathlib import Path

import swelltree as sw
from swelltree.interop.fmi.fmu import c_compiler

STEP = 0.01  # s
LOOP = r"""
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "NAME.h"

static double now(void) /* CPU time [us] */
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e6 * t.tv_sec + 1e-3 * t.tv_nsec;
}

static void step(NAME_t *d, int k)
{
    double value;
    NAME_set(d, 1, 1e4 * (k % 7));
    if (NAME_step(d, 0.01)) exit(1);
    NAME_get(d, PREFIX_FIRST_OUTPUT, &value);
}

int main(void)
{
    enum { COUNT = 4000, ROUNDS = 5 };
    double mean = 1e9, longest = 1e9;
    NAME_t *d = NAME_init(malloc(NAME_size()));
    for (int round = 0; round < ROUNDS; round++) {
        double begin = now(), most = 0.0, each;
        for (int k = 0; k < COUNT; k++) step(d, k);
        each = (now() - begin) / COUNT;
        if (each < mean) mean = each;
        for (int k = 0; k < COUNT; k++) {
            begin = now();
            step(d, k);
            each = now() - begin;
            if (each > most) most = each;
        }
        if (most < longest) longest = most;
    }
    printf("%.2f %.1f\n", mean, longest);
    return 0;
}
"""


def microseconds(name: str, output: str) -> dict[str, float]:
    """Best mean time of a step, and the longest step of the best round [us]."""
    device = getattr(sw.gallery, name)()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        sw.export_c(device.model(), device.sea, place, step=STEP, outputs=[output])
        (prefix,) = (path.stem for path in place.glob("*.h") if not path.stem.endswith("_data"))
        text = LOOP.replace("NAME", prefix).replace("PREFIX", prefix.upper())
        (place / "loop.c").write_text(text)
        parts = ["loop.c", f"{prefix}.c", f"{prefix}_model.o", "-lm"]
        subprocess.run([*c_compiler(), "-O2", *parts, "-o", "loop"], cwd=place, check=True)
        done = subprocess.run([place / "loop"], capture_output=True, text=True, check=True)
        size = (place / f"{prefix}_model.o").stat().st_size
    mean, longest = map(float, done.stdout.split())
    return {"step": mean, "longest": longest, "object kB": round(size / 1000)}


def main() -> None:
    """Print all figures."""
    devices = {"rm3": "float.Heave", "barges": "barge1.Heave", "sphere": "sphere.Heave"}
    print(json.dumps({name: microseconds(name, output) for name, output in devices.items()}))


if __name__ == "__main__":
    main()
