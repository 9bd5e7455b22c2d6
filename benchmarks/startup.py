"""Start-up: the CPU time of the command's help and lists against the bare interpreter.

    python benchmarks/startup.py

The goal is at most 6 times the bare interpreter for the help, 12 times for a list. All are started in turn; the table
gives medians and minima of the CPU time (user + system) of the child process, which other work on the machine does not
change much.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys

COMMANDS = {
    "bare interpreter": [sys.executable, "-c", "pass"],
    "lexiscope --help": [sys.executable, "-m", "lexiscope.cli.main", "--help"],
    "lexiscope study --help": [sys.executable, "-m", "lexiscope.cli.main", "study", "--help"],
    "lexiscope study saw_c --help": [sys.executable, "-m", "lexiscope.cli.main", "study", "saw_c", "--help"],
    **{
        f"lexiscope list {room}": [sys.executable, "-m", "lexiscope.cli.main", "list", room]
        for room in ("datasets", "tasks", "subjects", "studies")
    },
}


def cpu_seconds(command: list[str]) -> float:
    """Run a command and return its user + system time."""
    # as an installed package starts: from byte code
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=env)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {child.returncode}")
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    seconds: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for number in range(rounds + 1):
        for name, command in COMMANDS.items():
            taken = cpu_seconds(command)
            # the first round writes byte code and warms the disk cache
            if number:
                seconds[name].append(taken)
    base = statistics.median(seconds["bare interpreter"])
    print("| command | median ms | min ms | × bare interpreter |\n|---|---|---|---|")
    for name, values in seconds.items():
        median = statistics.median(values)
        print(f"| {name} | {1000 * median:.0f} | {1000 * min(values):.0f} | {median / base:.1f} |")


if __name__ == "__main__":
    main()
