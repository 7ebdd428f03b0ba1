"""A spec as the files of another tool: its hosts read, their steps made, written in a format."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from wirespeed import catalog
from wirespeed.apply.spec_file import parse_spec
from wirespeed.apply.spec_yaml import MAX_BYTES
from wirespeed.approaches.host_ports import netdev_of
from wirespeed.approaches.vf_ports import vf_address
from wirespeed.facts.sriov import Sriov
from wirespeed.formats.form import Exported, Format, exported
from wirespeed.formats.wanted import WantedHost, WantedPort, wanted_host
from wirespeed.host.files import read_limited_text
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError, known
from wirespeed.model.spec.spec import Spec
from wirespeed.runs.hosts_of_spec import readers_of
from wirespeed.steps.firmware_settings import FirmwareSettings


def export_hosts(spec: Spec, of: Format, names: Iterable[str]) -> Iterator[tuple[str, Exported]]:
    """Read the named hosts, or their captures, and write each. Nothing is changed.

    Raises InputError `formats.approach`, `formats.before_boot`, `formats.says_nothing`, `spec.*`,
    and what a host cannot be reached for.
    """
    approach = catalog.approaches()[spec.approach]
    if not approach.is_exported and spec.approach not in of.switches:
        every = catalog.approaches()
        known = [name for name, one in every.items() if one.is_exported or name in of.switches]
        raise InputError(
            "formats.approach",
            where=spec.approach,
            found=f"{of.name} has no format for its switch and programs",
            so="almost nothing of it could be written",
            next=f"use approach: {' or '.join(known)}; or make a script with `wirespeed plan "
            "--shell HOST`",
        )
    chosen = {name: host for name, host in spec.hosts.items() if name in set(names)}
    with readers_of(spec.model_copy(update={"hosts": chosen, "guests": {}})) as (facts, _):
        for name in chosen:
            result = exported(of, wanted_of(spec, name, facts[name]))
            if not result.files:
                raise InputError(
                    "formats.says_nothing",
                    where=name,
                    found="\n".join(result.unsaid) or "the spec configures nothing on this host",
                    so=f"{of.name} cannot express any of it; no file was written",
                    next="choose another format, or select other hosts with --host",
                )
            yield name, result


def spec_data_of(path: Path) -> dict[str, Any]:
    """Give a spec's data as its file has it. Raises InputError `spec.*`, `file.unreadable`."""
    data: dict[str, Any] = parse_spec(read_limited_text(path, MAX_BYTES), str(path)).model_dump(
        mode="json", exclude_unset=True
    )
    return data


def wanted_of(spec: Spec, name: str, host: HostFacts) -> WantedHost:
    """Give what a spec wants of a host. Raises InputError `formats.*`, `spec.*`."""
    try:
        steps = list(catalog.approaches()[spec.approach].steps(spec, name, host))
    except CannotTellError as error:
        raise InputError(
            "formats.cannot_tell",
            where=name,
            found=error.reason,
            so="what the spec needs on this host is not known",
            next=error.would_tell,
        ) from None
    if any(isinstance(one.step, FirmwareSettings) for one in steps):
        raise InputError(
            "formats.before_boot",
            where=name,
            found="a card offers too few VFs until its firmware is configured and the host "
            "rebooted",
            so="the PCI addresses of its VFs are not known yet",
            next="run `wirespeed apply SPEC`, reboot the host, then run this command again",
        )
    ports = (wanted_port(name, host, address) for address in spec.hosts[name].ports)
    return wanted_host(name, ports, steps)


def wanted_port(name: str, host: HostFacts, address: str) -> WantedPort:
    """Give a port, with the PCI addresses of as many VFs as it can have, where they are known."""
    vfs: tuple[str, ...] = ()
    pf = host[Sriov].pfs.get(address)
    if pf is not None:
        with suppress(CannotTellError):
            total = known(pf.total_vfs, f"VFs of {address}")
            vfs = tuple(vf_address(pf, vf) for vf in range(total))
    return WantedPort(address, netdev_of(host, name, address), vfs)
