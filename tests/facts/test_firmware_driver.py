"""/sys/module, `modinfo mlx5_core` and the kernel log's lines about symbols."""

import pytest

from wirespeed.facts.firmware_driver import DriverOrigin
from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import Absent, Known, Unreadable

SYS = """\
/sys/module/mlx5_core/initstate:live
/sys/module/mlx5_core/version:25.07-0.9.7
/sys/module/mlx5_core/srcversion:F1A2B3C4D5E6F7A8B9C0D1E
/sys/module/mlx5_core/taint:OE
/sys/module/ib_core/initstate:live
/sys/module/ib_core/srcversion:0123456789ABCDEF0123456
/sys/module/ib_core/taint:
"""
NO_VERSION = "grep: /sys/module/ib_core/version: No such file or directory"


def parse(*sections: Section) -> DriverOrigin:
    return DriverOrigin.parse(Capture(sections, complete=True))


def test_modules_that_are_loaded_tell_where_they_are_from():
    origin = parse(Section("driver", "", SYS, NO_VERSION, 123))
    assert set(origin.loaded) == {"mlx5_core", "ib_core"}
    vendors, stock = origin.loaded["mlx5_core"], origin.loaded["ib_core"]
    assert vendors.is_out_of_tree == Known(True, "cat /sys/module/mlx5_core/taint")
    assert stock.is_out_of_tree == Known(False, "cat /sys/module/ib_core/taint")
    assert vendors.version == Known("25.07-0.9.7", "cat /sys/module/mlx5_core/version")
    assert isinstance(stock.version, Absent)


def test_a_host_without_the_card_has_none():
    origin = parse()
    assert origin.loaded == {}
    assert isinstance(origin.symbol_errors, Unreadable)


def test_the_file_that_would_be_loaded_is_read():
    text = "filename:       /lib/modules/6.1.0/updates/dkms/mlx5_core.ko\nsrcversion:     ABC\n"
    origin = parse(Section("driver-installed", "", text, "", 0))
    assert origin.installed_file == Known(
        "/lib/modules/6.1.0/updates/dkms/mlx5_core.ko", "modinfo mlx5_core"
    )
    assert origin.installed_source_version == Known("ABC", "modinfo mlx5_core")
    assert isinstance(origin.installed_version, Absent)


@pytest.mark.parametrize(
    "line",
    [
        "[   12.3] mlx5_ib: disagrees about version of symbol ib_umem_get",
        "[   12.3] mlx5_ib: Unknown symbol ib_umem_get (err -22)",
    ],
)
def test_symbols_that_did_not_fit_are_kept(line: str):
    errors = parse(Section("driver-log", "", line + "\nanother line\n", "", 0)).symbol_errors
    assert isinstance(errors, Known) and errors.value == (line,)


def test_a_log_that_may_not_be_read_is_not_a_log_without_errors():
    why = "dmesg: read kernel buffer failed: Operation not permitted"
    assert isinstance(parse(Section("driver-log", "", "", why, 0)).symbol_errors, Unreadable)


@pytest.mark.parametrize(
    ("said", "release"),
    [
        # Of a host with a ConnectX-7 and DOCA-OFED (lshca, issue 102); and of MLNX_OFED.
        ("OFED-internal-24.07-0.3.5.0.110:\n", "OFED-internal-24.07-0.3.5.0.110"),
        ("MLNX_OFED_LINUX-23.10-5.1.4.0:\n", "MLNX_OFED_LINUX-23.10-5.1.4.0"),
    ],
)
def test_the_vendors_release_is_named(said: str, release: str):
    origin = parse(
        Section("driver", "", SYS, NO_VERSION, 123), Section("driver-package", "", said, "", 0)
    )
    assert origin.package == Known(release, "ofed_info -s")
    assert origin.runs == f"mlx5_core 25.07-0.9.7 of the vendor ({release})"


def test_without_the_vendors_package_it_is_the_kernels_own():
    stock = SYS.replace("taint:OE", "taint:")
    missing = Section("driver-package", "", "", "sh: 1: ofed_info: not found", 127)
    origin = parse(Section("driver", "", stock, NO_VERSION, 123), missing)
    assert isinstance(origin.package, Absent)
    assert origin.runs == "mlx5_core of the kernel"
    assert parse(missing).runs == ""


@pytest.mark.parametrize("said", ["", "\n", "a b\n", "$(reboot)-1", "x" * 200])
def test_what_is_no_release_is_unreadable(said: str):
    assert isinstance(parse(Section("driver-package", "", said, "", 0)).package, Unreadable)
