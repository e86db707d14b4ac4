"""Programs for graphics processors, run here: threads one after the other, by the same text."""

import numpy as np

from swelltree.jit import GROUP, ManyProgram, Native, leaves_of, object_code
from swelltree.jit.ensemble.programs import Text
from swelltree.jit.ensemble.rows import adjacent, inputs_of, packed_cases, taken_apart
from swelltree.jit.ensemble.threads import ThreadWriter


class ThreadsHere(ManyProgram):
    """At most as many cases as threads go together."""

    def __init__(self, function, short=False):
        self.short = short
        super().__init__(function)

    @property
    def manner(self):
        return "threads here", "float" if self.short else "double"

    def write(self, graph):
        return Text(ThreadWriter(graph, self.manner[1], on_cpu=True).function(), frozenset())

    def run(self, cases, chunks):
        written = self.needed(cases, chunks[0])
        native = Native(object_code(written.text), pointers=6)
        fixed, shared, own = packed_cases(written, cases, self.short)
        rows = adjacent(written, own, range(cases.count), GROUP, self.short)
        n_state = len(leaves_of(cases.state))
        sizes = np.array([*written.sizes, cases.count])
        out, work = (np.empty((n, GROUP)) for n in written.sizes[1:])
        found = []
        for chunk in chunks:
            native(fixed, inputs_of(shared, chunk, self.short), rows, out, work, sizes)
            found.append([taken_apart(out, p, cases.count, self.short) for p in written.outs])
            for (start, shape, _), (at, _, _) in zip(
                written.per_case[-n_state:], written.outs[:n_state], strict=True
            ):
                size = int(np.prod(shape, dtype=int))
                rows[start : start + size] = out[at : at + size]
        series = [
            np.concatenate(x, axis=1) for x in zip(*(f[n_state:] for f in found), strict=True)
        ]
        return written.tree.unflatten([*found[-1][:n_state], *series])
