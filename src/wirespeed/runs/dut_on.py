"""RFC 2544 of a forwarder on a host, without a spec: one is made of the options, and proven.

It is written into the folder of the page, so that all that is said of a spec holds for it:
`wirespeed undo OUT/spec.yaml`, `wirespeed report OUT/spec.yaml`.
"""

from dataclasses import dataclass
from typing import Any

from wirespeed.apply.run_place import new_run_folder, refuse_moved
from wirespeed.apply.spec_file import parse_spec
from wirespeed.formats.form import yaml_text
from wirespeed.host.files import is_file, make_result_folder, read_text, write_result
from wirespeed.host.reach_destination import HERE
from wirespeed.model.error import InputError
from wirespeed.report.proof_answer import exit_code
from wirespeed.runs.bench_request import BenchRequest
from wirespeed.runs.prove_into import prove_into
from wirespeed.runs.prove_run import DeclinedError

SPEC = "spec.yaml"
PAGE_KIB = 2048
SPARE_PAGES = 32
"""Beyond a program's memory: the EAL takes some for itself."""
WITHOUT_WORD = {
    "wire": "--wire",
    "method": "--search",
    "confirmations": "--confirmations",
    "repeats": "--repeats",
    "windowed": "--windowed",
    "expect": "--expect",
    "as_json": "--json",
    "demo": "--demo",
}
"""Fields of a request that a spec has no word for, and their options."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DutOn:
    """Where the forwarder runs, and how its host holds its ports."""

    reach: str
    tester: str = HERE
    ports: tuple[str, ...] = ()
    """PCI addresses, in the order of their cables; empty: the same as the tester's."""
    cores: str | None = None
    driver: str = "vfio-pci"
    memory_mib: int = 1024
    """That each of the two programs takes, of hugepages of 2 MiB."""
    asks: bool = True


def measure_dut_on(asked: BenchRequest, dut: DutOn) -> int:
    """Prove the spec that the options make; give the exit code of `wirespeed prove`.

    Raises InputError `options.invalid`, `run.exists`, and as `prove_into` does.
    """
    text = yaml_text(spec_data(asked, dut))
    try:
        spec = parse_spec(text, "--dut-on")
    except InputError as error:
        error.what, error.next = "options.invalid", "wirespeed measure rfc2544 --help"
        raise
    path = asked.out / SPEC
    if is_file(path) and read_text(path) != text:
        raise InputError(
            "run.exists",
            where=str(path),
            found="it was made of other options",
            so="a run of it may still be applied on its hosts",
            next=f"another --out, or: wirespeed prove {path}",
        )
    refuse_moved(path, spec)
    make_result_folder(asked.out)
    write_result(path, text)
    try:
        proof = prove_into(
            new_run_folder(path),
            spec,
            path,
            asked.out,
            asks=dut.asks,
            keeps=False,
            resumes=asked.resume,
        )
    except DeclinedError:
        return 1
    return exit_code(proof)


def spec_data(asked: BenchRequest, dut: DutOn) -> dict[str, Any]:
    """Give the data of the spec. Raises InputError `options.invalid`. Pure."""
    usual = BenchRequest(out=asked.out)
    for field, option in WITHOUT_WORD.items():
        if getattr(asked, field) != getattr(usual, field):
            raise _wrong(option, "it is not for --dut-on", "leave it out")
    if not asked.ports:
        raise _wrong("--port", "--dut-on, and no port of the tester", "--port ADDRESS")
    if len(asked.duts) != 1:
        raise _wrong("--dut", ", ".join(asked.duts), "one forwarder with --dut-on")
    sizes = asked.frame_bytes.split(",")
    if not all(size.strip().isdecimal() for size in sizes):
        raise _wrong("--frame-bytes", asked.frame_bytes, "sizes alone, as 64,1518, with --dut-on")
    one_port = len(asked.ports) == 1
    tester = {
        "queues": asked.queues,
        "rx_descriptors": asked.rx_descriptors or None,
        "tx_descriptors": asked.tx_descriptors or None,
        "hardware_stamps": asked.hardware_stamps,
        "peer_macs": list(asked.peer_macs),
    }
    return {
        "hosts": {
            "tester": _host(dut.tester, "tester", asked.ports, asked.cores),
            "dut": _host(dut.reach, "dut", dut.ports or asked.ports, dut.cores),
        },
        "approach": "dpdk",
        "dpdk": {
            "forwarder": asked.duts[0],
            "driver": dut.driver,
            "way_back": asked.way_back or ("same" if one_port else "other"),
            "bidirectional": asked.bidirectional,
            "burst": asked.burst,
            "memory_mib": dut.memory_mib,
            "hugepages": {
                "page_kib": PAGE_KIB,
                "count": (dut.memory_mib * 1024 + PAGE_KIB - 1) // PAGE_KIB + SPARE_PAGES,
            },
            "tester": _given(tester),
        },
        "measure": {"rfc2544": _rfc2544(asked, [int(size) for size in sizes])},
    }


def _rfc2544(asked: BenchRequest, sizes: list[int]) -> dict[str, Any]:
    return _given(
        {
            "frame_bytes": sizes,
            "flows": asked.flows,
            "seconds": asked.confirm_seconds,
            "trial_seconds": asked.trial_seconds,
            "width": asked.width,
            "max_load_pps": asked.max_load,
            "link_gbps": asked.link_gbps,
            "single_core": asked.single_core,
            "ladder": asked.ladder,
            "back_to_back": asked.back_to_back,
            "recoveries": asked.recoveries,
            "overload_seconds": asked.overload_seconds,
            "resets": asked.resets,
            "soak_seconds": asked.soak_seconds,
            "gap_limit_ms": asked.gap_limit_ms,
            "stalled_share": asked.stalled_share,
        }
    )


def _host(reach: str, role: str, ports: tuple[str, ...], cores: str | None) -> dict[str, Any]:
    return _given({"reach": reach, "role": role, "cores": cores, "ports": list(ports)})


def _given(fields: dict[str, Any]) -> dict[str, Any]:
    """Leave out what is not asked for."""
    return {name: value for name, value in fields.items() if value is not None and value != []}


def _wrong(option: str, found: str, then: str) -> InputError:
    return InputError("options.invalid", where=option, found=found, next=then)
