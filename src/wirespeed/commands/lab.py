"""`wirespeed lab`: virtual hosts with SR-IOV cards, to try everything without hardware."""

import os
import sys
from pathlib import Path
from typing import get_args

import click

from wirespeed.commands.described import Described
from wirespeed.host.clock import monotonic_s
from wirespeed.host.files import find_program, is_file, write_result
from wirespeed.host.lab_folders import SSH_CONFIG
from wirespeed.lab.machine_fault import FORM, make_fault, parse_fault
from wirespeed.lab.machine_runs import end_lab, find_lab, running_labs, start_lab
from wirespeed.lab.machine_spec import (
    DPDK_HOSTS,
    PORTS,
    TWO_HOSTS,
    CardModel,
    LabSpec,
    Wiring,
    dpdk_spec,
    lab_of,
    parse_machine,
)
from wirespeed.lab.machines import LabState, MachineState
from wirespeed.model.error import InputError
from wirespeed.terminal import echo

NAME = "lab"
_name_option = click.option("--name", default=NAME, show_default=True, help="The lab's name.")


@click.group()
def lab() -> None:
    """Run virtual hosts with SR-IOV cards in QEMU, without a real card or root."""


@lab.command(
    cls=Described,
    reads="this machine: QEMU, KVM, apt's sources for the first image",
    changes="the lab's folder and processes; images in ~/.cache/wirespeed",
    codes={0: "the hosts are up", 1: "a host did not come up; none is left", 2: "bad input"},
)
@click.argument("hosts", nargs=-1, metavar="[HOST[,KEY=VALUE]...]...")
@click.option("--switch", is_flag=True, help="Connect all ports to a switch, instead of in pairs.")
@click.option(
    "--dpdk", is_flag=True, help="Two hosts to measure with DPDK: 1 GiB each, and a spec to prove."
)
@click.option(
    "--card",
    type=click.Choice(get_args(CardModel)),
    default="igb",
    show_default=True,
    help="Card of the hosts; mlx5 is a model of a ConnectX-5.",
)
@click.option(
    "--kernel",
    default="",
    metavar="SERIES",
    help="Series of Debian's kernel: 6.1 or 6.12.  [default: the newest]",
)
@_name_option
def up(
    hosts: tuple[str, ...], switch: bool, dpdk: bool, card: CardModel, kernel: str, name: str
) -> None:
    """Start hosts (without HOST, alpha and beta); they run until `lab down`.

    HOST takes memory=MIB, cpus=N, width=LANES and speed=GT/S of the root ports above its cards,
    init=systemd, mstflint=1 for firmware tools, and disk=1 for a disk that survives a reboot. The
    first lab of a kernel builds the image that its hosts boot from: a minute, 400 MB. The model of
    a ConnectX must be built first, with scripts/build-mlx5-model.sh.
    """
    wiring: Wiring = "switch" if switch else "crossed"
    if dpdk and card != "igb":
        raise InputError(
            "options.invalid",
            where="--dpdk",
            found=f"--card {card}",
            so="DPDK drives a ConnectX through the kernel's RDMA, which the lab's model of the "
            "card lacks",
            next="leave out one of the two",
        )
    if dpdk and (hosts or switch):
        raise InputError(
            "options.invalid",
            where="--dpdk",
            found="--switch" if switch else hosts[0],
            so="--dpdk always has two hosts, alpha and beta, connected port to port",
            next="leave out one of the two",
        )
    spec_file = Path(f"{name}-dpdk.yaml")
    if dpdk and is_file(spec_file):
        raise InputError(
            "file.exists",
            where=str(spec_file),
            found="the file exists already",
            next="move it, or run the command in another folder",
        )
    usual = DPDK_HOSTS if dpdk else TWO_HOSTS
    machines = [parse_machine(text) for text in hosts] or list(usual.hosts)
    machines = [machine.model_copy(update={"card": card}) for machine in machines]
    spec: LabSpec = lab_of(machines, wiring, kernel)
    started = monotonic_s()
    said: set[str] = set()

    def progress(doing: str) -> None:
        if doing not in said and sys.stderr.isatty():
            echo(f"{doing} …", err=True)
        said.add(doing)

    state = start_lab(name, spec, progress)
    echo(f"{_heading(state)}, up in {monotonic_s() - started:.1f} s")
    _show(state)
    option = "" if name == NAME else f" --name {name}"
    first = state.hosts[0]
    if dpdk:
        write_result(spec_file, dpdk_spec(*(host.destination for host in state.hosts)))
        echo(f"try   wirespeed prove {spec_file}")
        echo(f"      wirespeed lab shell{option} {first.name}")
    else:
        echo(f"try   wirespeed lab shell{option} {first.name}")
    echo(f"      wirespeed doctor {first.destination}")
    echo(f"end   wirespeed lab down{f' {name}' if option else ''}")


@lab.command(
    "list",
    cls=Described,
    reads="the labs' folders",
    changes="nothing",
    codes={0: "listed, also if none is up"},
)
def list_labs() -> None:
    """List the running labs and their hosts."""
    labs = running_labs()
    for folder, state in labs:
        if state is None:
            echo(f"{folder.name}: coming up")
            continue
        echo(_heading(state))
        _show(state)
        echo(f"  ssh -F {folder / SSH_CONFIG} {state.hosts[0].destination}")
    if not labs:
        echo("no lab is up: wirespeed lab up")


@lab.command(
    cls=Described,
    context_settings={"ignore_unknown_options": True},
    reads="what COMMAND reads on the host",
    changes="what COMMAND changes there; never this machine",
    codes={0: "COMMAND ended with 0; else its own exit code", 2: "bad input"},
)
@_name_option
@click.argument("host")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def shell(name: str, host: str, command: tuple[str, ...]) -> None:
    """Open a shell on a host, or run COMMAND there and return its exit code.

    COMMAND is passed to the host's shell, as by `ssh`: quote what that shell must not expand.
    """
    folder, state = find_lab(name)
    found = _host(state, host)
    program = find_program("ssh")
    if program is None:
        raise InputError("command.missing", where="ssh", next="install openssh-client")
    argv = [program, "-F", str(folder / SSH_CONFIG), found.destination, *command]
    # We become ssh: its terminal, its signals and its exit code are ours.
    os.execv(program, argv)  # noqa: S606


@lab.command(
    cls=Described,
    epilog=f"FAULT: {FORM}. Numbers are hexadecimal, except N.",
    reads="which card the port has",
    changes="the emulated port, until its opposite or `none`",
    codes={0: "the port has the fault", 1: "QEMU refused it", 2: "bad input"},
)
@_name_option
@click.option(
    "--port",
    type=click.IntRange(0, PORTS - 1),
    default=0,
    show_default=True,
    help="Port of the host that fails.",
)
@click.argument("host")
@click.argument("what", metavar="FAULT")
def fault(name: str, port: int, host: str, what: str) -> None:
    """Make a port of a host fail in a chosen way, to see what the doctor reports.

    A fault lasts until its opposite, or `none`, ends it; `lab down` ends all faults.
    """
    folder, state = find_lab(name)
    made = parse_fault(what)
    make_fault(folder / f"{_host(state, host).name}.qmp", port, made)
    echo(f"{host}, port {port}: {what}")


@lab.command(
    cls=Described,
    reads="the lab's folder",
    changes="ends the lab's processes and removes its folder",
    codes={0: "the lab is down", 1: "a process could not be ended", 2: "bad input: no such lab"},
)
@click.argument("name", default=NAME)
@click.option("--all", "every", is_flag=True, help="Take down every running lab.")
def down(name: str, every: bool) -> None:
    """Stop a lab and remove all its files."""
    for one in [folder.name for folder, _ in running_labs()] if every else [name]:
        end_lab(one)
        echo(f"{one} is down")


def _host(state: LabState, host: str) -> MachineState:
    found = next((one for one in state.hosts if host in (one.name, one.destination)), None)
    if found is None:
        raise InputError(
            "lab.no_host",
            where=host,
            found=f"the hosts of {state.name} are {', '.join(one.name for one in state.hosts)}",
            next="name one of these",
        )
    return found


def _heading(state: LabState) -> str:
    wiring = "port to port" if state.wiring == "crossed" else "by a switch"
    kind = state.accelerator.partition(" ")[0]
    return f"{state.name}: {len(state.hosts)} hosts, ports joined {wiring}, {kind}"


def _show(state: LabState) -> None:
    for host in state.hosts:
        echo(
            f"  {host.destination:<16} 127.0.0.1:{host.ssh_port}, {host.memory_mib} MiB, "
            f"{host.cpus} CPU{'s' if host.cpus > 1 else ''}, process {host.pid}"
        )
