"""Peak memory of one workload: `python -m benchmarks.peak '{"kind": ..., "fields": ...}'` prints megabytes.

What is measured is the growth of the process's largest resident size while the workload is built and
called `CALLS` times: weights, gradients, Adam's moments, activations, and what the allocator and the
convolution library set aside on the way. It is what the system must find for you. The level before is
taken after one call of the same workload at next to no size, which loads code and starts threads. A fresh
process for every workload keeps one's memory out of another's account.
"""

import json
import resource
import sys
from pathlib import Path

from benchmarks.workload import KINDS

CALLS = 3  # Adam's moments are there after the first
STATUS = Path("/proc/self/status")


def peak_bytes() -> int:
    """The largest resident size of this process so far.

    Linux keeps it as VmHWM. Its ``ru_maxrss`` will not do: a process inherits that from its parent.
    """
    if STATUS.exists():
        (line,) = [line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM:")]
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # bytes on macOS


def main() -> None:
    """Measure the workload that the first argument describes."""
    request = json.loads(sys.argv[1])
    workload = KINDS[request["kind"]](**request["fields"])
    workload.tiny().build()()
    before = peak_bytes()
    call = workload.build()
    for _ in range(CALLS):
        call()
    print((peak_bytes() - before) / 1e6)


if __name__ == "__main__":
    main()
