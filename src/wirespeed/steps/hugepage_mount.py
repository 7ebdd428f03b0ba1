"""Where programs take hugepages of one size from: a mounted hugetlbfs."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from wirespeed.facts.memory import Memory
from wirespeed.model.capture import Capture, Section
from wirespeed.model.command import Command
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Phase, Scope, State, Step
from wirespeed.steps.marks import lines, literal

UNITS_KIB = {"G": 1 << 20, "M": 1 << 10}


class HugepageMount(Step):
    """A hugetlbfs of this page size is mounted at `/dev/hugepages-SIZE`, until the next boot.

    Undo unmounts it, unless a program still has pages of it, and leaves the empty folder.
    """

    scope: ClassVar[Scope] = Scope.BOOT
    purpose: ClassVar[str] = "DPDK takes no page of a size that no hugetlbfs is mounted for."
    phase: ClassVar[Phase | None] = Phase.SETTINGS
    step: Literal["hugepage_mount"] = "hugepage_mount"
    page_size: Annotated[str, Field(pattern=r"^[1-9][0-9]{0,2}[MG]$")]
    """As the kernel prints it: `2M`, `1G`."""

    @property
    def subject(self) -> str:
        return f"/dev/hugepages-{self.page_size}"

    def read(self) -> Command:
        return Command(argv=("cat", "/proc/self/mounts"))

    @property
    def mark(self) -> str:
        return lines(f"^[^ ]+ {literal(self.subject)} ")

    def parse(self, section: Section) -> Observed[State]:
        """Tell whether it is mounted; unreadable where something else is there."""
        source = self.read().line()
        text = section.text(source)
        if not isinstance(text, Known):
            return Unreadable(text.reason, source)
        at_folder = [line for line in text.value.split("\n") if self._is_there(line)]
        if not text.value.strip() or len(at_folder) > 1:
            return Unreadable(f"{len(at_folder)} mounts at {self.subject}", source)
        named = Section("hugepage-mounts", "", section.output, "", 0)
        mounts = Memory.parse(Capture([named], complete=True)).mounts
        sizes = {m.path: m.page_bytes for m in mounts.value} if isinstance(mounts, Known) else {}
        if at_folder and sizes.get(self.subject) != self._page_bytes:
            return Unreadable(f"there is another mount: {at_folder[0][:80]}", source)
        return Known({"is_mounted": bool(at_folder)}, source)

    def _is_there(self, line: str) -> bool:
        return line.split(" ")[1:2] == [self.subject]

    @property
    def _page_bytes(self) -> int:
        return int(self.page_size[:-1]) * UNITS_KIB[self.page_size[-1]] << 10

    def wanted(self, before: State) -> State:
        return {"is_mounted": True}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        if not to["is_mounted"]:
            return (Command(argv=("umount", self.subject)),)
        size = f"pagesize={self.page_size}"
        mount = ("mount", "-t", "hugetlbfs", "-o", size, "nodev", self.subject)
        return (Command(argv=("mkdir", "-p", self.subject)), Command(argv=mount))
