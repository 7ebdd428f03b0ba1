"""Files of the kernel, which differ from those of a disk."""

from pathlib import Path

from wirespeed.host.files import read_text


def test_a_file_of_the_kernel_that_takes_no_large_read_is_read():
    """proc_sys_call_handler of fs/proc/proc_sysctl.c refuses more than kmalloc gives at once."""
    boot_id = Path("/proc/sys/kernel/random/boot_id")
    assert read_text(boot_id) == boot_id.read_text()
