"""The drop-in and the menu go together, also when a kill comes between them."""

import re
from dataclasses import dataclass
from pathlib import PurePosixPath

import pytest
from described_files import DescribedFiles
from proof import Answer, plan_on, prove
from pydantic import ValidationError

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.observed import Known, Unreadable
from wirespeed.steps.kernel_command_line import KernelCommandLine

FOLDER, MENU = "/etc/default/grub.d", "/boot/grub/grub.cfg"
FILE = f"{FOLDER}/wirespeed-kernel.cfg"
LINE = 'GRUB_CMDLINE_LINUX_DEFAULT="$GRUB_CMDLINE_LINUX_DEFAULT {}"\n'
STEP = KernelCommandLine(parameters=("intel_iommu=on", "iommu=pt"), reason="x")


@dataclass(eq=False)
class DescribedGrub(DescribedFiles):
    """Debian's update-grub: drop-ins by their names, then one entry for each kernel.

    grub-mkconfig of Debian 12 sources /etc/default/grub.d/*.cfg; 10_linux writes the entries.
    """

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DescribedGrub) and self._read() == other._read()

    def _read(self) -> dict[str, str]:
        return {p: c for p, c in self.files.items() if not p.endswith(".wirespeed")}

    def run(self, command: Command) -> Answer:
        if command.argv == ("mkdir", "-p", FOLDER):
            return Answer()
        if command.argv == ("update-grub",):
            self.files[MENU] = menu(self._parameters())
            return Answer("", "Generating grub configuration file ...\ndone\n")
        return super().run(command)

    def _parameters(self) -> str:
        words = ["quiet"]
        for path in sorted(self.files):
            if PurePosixPath(path).match(f"{FOLDER}/*.cfg"):
                assigned = re.search(
                    r'DEFAULT="\$GRUB_CMDLINE_LINUX_DEFAULT (.*)"', self.files[path]
                )
                assert assigned
                words.append(assigned[1])
        return " ".join(words)


def menu(parameters: str) -> str:
    """Debian 12's, shortened; 30_os-prober adds a line of another system."""
    return f"""\
menuentry 'Debian GNU/Linux' --class debian $menuentry_id_option 'gnulinux-simple' {{
\tload_video
\tif [ x$grub_platform = xxen ]; then insmod xzio; insmod lzopio; fi
\tlinux\t/boot/vmlinuz-6.1.0-18-amd64 root=UUID=0a-1b ro  {parameters}
\tinitrd\t/boot/initrd.img-6.1.0-18-amd64
}}
menuentry 'Debian GNU/Linux, (recovery mode)' {{
\tlinux\t/boot/vmlinuz-6.1.0-18-amd64 root=UUID=0a-1b ro single
}}
menuentry 'Another' {{
\tlinux /vmlinuz root=/dev/sda9
}}
"""


def host(parameters: str, **files: str) -> DescribedGrub:
    paths = {f"{FOLDER}/{name}.cfg": LINE.format(words) for name, words in files.items()}
    return DescribedGrub({MENU: menu(parameters), **paths})


def test_it_is_in_the_menu_and_taken_out_again():
    goal = host("quiet intel_iommu=on iommu=pt", **{"wirespeed-kernel": "intel_iommu=on iommu=pt"})
    prove(STEP, host("quiet"), goal)


def test_a_former_drop_in_of_ours_comes_back():
    start = host("quiet iommu=pt", **{"wirespeed-kernel": "iommu=pt"})
    goal = host("quiet intel_iommu=on iommu=pt", **{"wirespeed-kernel": "intel_iommu=on iommu=pt"})
    prove(STEP, start, goal)


def test_a_drop_in_that_the_menu_does_not_have_yet_is_not_called_done():
    start = host("quiet", **{"wirespeed-kernel": "intel_iommu=on iommu=pt"})
    state = STEP.parse(Section("step", "x", start.run(STEP.read()).output, "", 0))
    assert isinstance(state, Known)
    assert [c.line() for c in STEP.change(state.value, STEP.wanted(state.value))] == ["update-grub"]


def test_what_another_file_has_brought_into_the_menu_needs_nothing():
    start = host("quiet iommu=pt intel_iommu=on", other="iommu=pt intel_iommu=on")
    plan = plan_on(STEP, start).steps[0]
    assert (plan.commands, plan.undo) == ((), ()) and plan.no_op


def test_half_of_them_in_the_menu_is_not_all():
    words = "intel_iommu=on iommu=pt"
    goal = host(f"quiet iommu=pt {words}", other="iommu=pt", **{"wirespeed-kernel": words})
    prove(STEP, host("quiet iommu=pt", other="iommu=pt"), goal)


def test_each_step_has_its_file():
    other = KernelCommandLine(name="cpu", parameters=("nohz_full=1-15",), reason="x")
    assert other.subject == f"{FOLDER}/wirespeed-cpu.cfg"


@pytest.mark.parametrize(
    ("output", "errors", "code"),
    [
        ("", f"grep: {FILE}: No such file or directory\n"
         f"grep: {MENU}: No such file or directory\n", 2),
        ("", f"grep: {FILE}: No such file or directory\ngrep: {MENU}: Permission denied\n", 2),
        (f"{MENU}:\tlinux\t/boot/vmlinuz ro\n", f"grep: {FILE}: Permission denied\n", 2),
        (f"{MENU}:menuentry x\n", f"grep: {FILE}: No such file or directory\n", 2),
        ("", "", None),
        (f"{FILE}:half\n{MENU}:\tlinux\t/boot/vmlinuz ro\n", "", None),
        (f"{FILE}:half\n{MENU}:\tlinux\t/boot/vmlinuz ro\n", "", 124),
    ],
)  # fmt: skip
def test_where_there_is_no_menu_of_grub_nothing_is_known(
    output: str, errors: str, code: int | None
):
    assert isinstance(STEP.parse(Section("step", "x", output, errors, code)), Unreadable)


@pytest.mark.parametrize("parameter", ['a="b"', "a b", "$(x)", "`x`", "a;b", "", "-x", "a\nb"])
def test_it_takes_only_parameters_that_need_no_quotes(parameter: str):
    with pytest.raises(ValidationError):
        KernelCommandLine(parameters=(parameter,), reason="x")
