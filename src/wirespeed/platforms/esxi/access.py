"""ESXi hosts of a spec: `esxi://` is a shell over SSH, `vsphere://` the API of its agent."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from wirespeed.apply.control_posix import PosixControl
from wirespeed.host.reach_destination import EsxiHost, VsphereHost, parse_destination
from wirespeed.host.reach_esxi import reach_esxi
from wirespeed.host.reach_vsphere import reach_vsphere
from wirespeed.host.ssh_session import SshSession
from wirespeed.host.vsphere import VsphereSession
from wirespeed.model.error import InputError
from wirespeed.model.spec.members import Esxi
from wirespeed.platforms.access import Access, Turn, Way
from wirespeed.platforms.esxi.collector import esxi_collector_script
from wirespeed.platforms.esxi.control import EsxiControl
from wirespeed.platforms.esxi.control_vsphere import VsphereControl


@contextmanager
def esxi_controls(spec: Esxi) -> Iterator[dict[str, PosixControl]]:
    """Give control of every host, each with a connection of its own.

    Raises InputError `spec.not_esxi`, `spec.nobody_does_it`, `spec.guests_of_which`.
    """
    places = {name: parse_destination(host.reach) for name, host in spec.hosts.items()}
    with ExitStack() as stack:
        found: dict[str, PosixControl] = {}
        for name, place in places.items():
            if isinstance(place, EsxiHost):
                session = stack.enter_context(SshSession(place.remote))
                found[name] = EsxiControl(name, session, esxi_collector_script())
            elif isinstance(place, VsphereHost):
                found[name] = VsphereControl(name, stack.enter_context(VsphereSession(place)))
            else:
                raise InputError(
                    "spec.not_esxi",
                    where=name,
                    found=f"{place.text} is not an address at which wirespeed can change an ESXi "
                    "host",
                    next="set reach: esxi://USER@HOST for the driver, vsphere://USER@HOST for "
                    "guests",
                )
        _require_ways(spec, list(map(type, places.values())))
        yield found


def _require_ways(spec: Esxi, ways: Sequence[type]) -> None:
    wanted = spec.esxi
    if not ways:
        return
    if wanted.guests and ways.count(VsphereHost) > 1:
        raise InputError(
            "spec.guests_of_which",
            where="guests",
            found="the spec reaches more than one host by vsphere://",
            so="the same number is a different guest on each host",
            next="write one spec per host",
        )
    for what, way, scheme in (
        (wanted.parameters, EsxiHost, "esxi"),
        (wanted.guests, VsphereHost, "vsphere"),
    ):
        if what and way not in ways:
            raise InputError(
                "spec.nobody_does_it",
                where="parameters" if way is EsxiHost else "guests",
                found=f"no host of the spec is reached by {scheme}://",
                next="add the same machine to `hosts` a second time, with reach: "
                f"{scheme}://USER@HOST",
            )


ACCESS = Access(
    "ESXi",
    (
        Way(EsxiHost, reach_esxi, Turn.AT_ONCE, approaches=(), instead="esxi"),
        Way(VsphereHost, reach_vsphere, Turn.ONE_BY_ONE, approaches=(), instead="esxi"),
    ),
    Esxi,
    esxi_controls,
)
