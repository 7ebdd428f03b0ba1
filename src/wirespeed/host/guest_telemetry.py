"""Asks a DPDK program's telemetry socket, and says of its threads how long they ran and waited.

    python3 -I -S -c TEXT SECONDS SOCKET      each line of input is a JSON list of commands

For each a line of JSON: greeting, one answer a command, and `[thread, name, ran ns, waited ns, Hz]`
of each, the last of the CPU that it ran on, or null; or why not. It ends with its input, or when
nobody was heard for SECONDS (BEAT is heard).
"""

import json
import os
import pathlib
import select
import socket
import sys

BEAT = b"\0"
TIMEOUT_S = 5.0
GREETING_BYTES = 4096


def threads(pid: int) -> list[list[object]]:
    """Give what schedstat says of each thread."""
    found: list[list[object]] = []
    for folder in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            ran, waited, _ = (folder / "schedstat").read_text().split()
            comm = (folder / "comm").read_text().strip()
        except (FileNotFoundError, ProcessLookupError):
            # It ended meanwhile, or its kernel keeps no such count.
            continue
        found.append([int(folder.name), comm, int(ran), int(waited), clock_hz(folder)])
    return found


def clock_hz(thread: pathlib.Path) -> int | None:
    """Give the clock of a thread's CPU as the kernel measured it; None where it does not say.

    The file of that CPU alone: to read /proc/cpuinfo some kernels interrupt every CPU.
    """
    try:
        # proc(5), stat: the name may hold spaces; the CPU is the 39th field, the state the third.
        cpu = int((thread / "stat").read_text().rpartition(")")[2].split()[36])
        khz = pathlib.Path(f"/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq")
        return int(khz.read_text()) * 1000
    except (OSError, ValueError, IndexError):
        return None


def answer(path: str, commands: list[str]) -> dict[str, object]:
    """Ask the program."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asked:
        asked.settimeout(TIMEOUT_S)
        asked.connect(path)
        greeting = json.loads(asked.recv(GREETING_BYTES))
        answers = []
        for command in commands:
            asked.send(command.encode())
            answers.append(asked.recv(greeting["max_output_len"]).decode())
    return {"greeting": greeting, "answers": answers, "threads": threads(greeting["pid"])}


def main() -> None:
    """Answer line by line."""
    silent_s, path = float(sys.argv[1]), sys.argv[2]
    buffer = b""
    while select.select([0], [], [], silent_s)[0]:
        chunk = os.read(0, 1 << 16)
        if not chunk:
            return
        *lines, buffer = (buffer + chunk.replace(BEAT, b"")).split(b"\n")
        for line in lines:
            try:
                told = answer(path, json.loads(line))
            except (OSError, ValueError, KeyError) as error:
                told = {"failed": f"{type(error).__name__}: {error}"}
            sys.stdout.write(json.dumps(told) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
