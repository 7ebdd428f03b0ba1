"""A described Windows with tasks: it starts the undo that was armed, when its time has come.

Its time comes with the connections that are tried: `fires_at` is the number of the one before
which the task starts. While `is_cut` is true of the host, nobody is let in.
"""

import base64
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from described_powershell import OTHERS, SETTLE, SWEEP, DescribedPowerShell, words_of
from described_windows import DescribedWindows

from wirespeed.host.runner import MAX_OUTPUT_BYTES, Completed
from wirespeed.model.command import Command, Shell
from wirespeed.model.error import HostError

NAME = r"wirespeed-undo-([0-9a-f]{32}-[0-9a-f]{12})"
ARM = re.compile(
    rf"\$undo = Join-Path \$env:ProgramFiles '{NAME}'\nStep armed none \{{\n(.*)\n\}}\n", re.S
)
CONFIRM = re.compile(rf"\$undo = Join-Path \$env:ProgramFiles '{NAME}'\nfunction Result .*"
                     r"\nAwaitChange\nStep outcome lines \{\n.*?\n\}\n", re.S)  # fmt: skip
UNLESS = re.compile(
    rf"if \(Test-Path -LiteralPath \(Join-Path \$env:ProgramFiles '{NAME}\\taken'\)\) "
    r"\{ break \}\n"
)
DISARM = re.compile(
    rf"\t\$undo = Join-Path \$env:ProgramFiles '{NAME}'\n\ttry \{{ \[IO\.File\]::Open\(\(Join-Path "
    r"\$undo 'taken'\), 'CreateNew'\)\.Close\(\) \} catch \{ break \}\n"
    r"\tforeach \(\$name in 'untouched', 'confirmed'\) \{\n"
    r"\t\tNew-Item -ItemType File -Path \(Join-Path \$undo \$name\) \| Out-Null\n\t\}\n"
    rf"\tUnregister-ScheduledTask -TaskName 'wirespeed-undo-\1' -Confirm:\$false\n"
)
TEXT_OF = r"""function TextOf\(\[string\]\$Form, \[scriptblock\]\$Do\) \{
\t\$found = @\(& \$Do \| Where-Object \{ \$null -ne \$_ \}\)
\tif \(\$Form -eq 'rows'\) \{ return ConvertTo-Json -InputObject \$found -Depth 6 -Compress \}
\t\$found \| Out-String -Width 4096
\}
"""
KEEP = re.compile(
    rf"(?:{TEXT_OF}\$undo = Join-Path \$env:ProgramFiles '{NAME}'\n)?"
    r"Step keep-(before|left) none \{\n\tStart-Sleep -Seconds \d+\n"
    r"\t\$text = TextOf (?:rows|lines) \{\n(.*?)\n\t\}\n"
    r"\t\[IO\.File\]::WriteAllText\(\(Join-Path \$undo '(?:before|left)'\), \$text\)\n\}\n"
)
CHECK = re.compile(
    r"\$kept = 'left', 'before' \| ForEach-Object \{ Join-Path \$undo \$_ \}\n"
    r"if \(Test-Path -LiteralPath \$kept\[0\]\) \{\n\ttry \{\n"
    r"\t\t\$now = TextOf (?:rows|lines) \{\n(.*?)\n\t\t\}\n"
    r"\t\t\$texts = \$kept \| ForEach-Object \{ \[IO\.File\]::ReadAllText\(\$_\) \}\n"
    r"\t\tif \(\$texts -cnotcontains \$now\) \{\n"
    r"\t\t\tSet-Content -LiteralPath \(Join-Path \$undo 'result'\) -Value 'theirs'\n"
    r"\t\t\texit 0\n\t\t\}\n\t\} catch \{ \$failed = '' \}\n\}\n"
)
RUN = re.compile(
    r"try \{\n\t\$global:LASTEXITCODE = 0\n\t(.*) \| Out-Null\n"
    r"\tif \(\$global:LASTEXITCODE\) \{ throw 'refused' \}\n\} catch \{ \$failed \+= ' (\d+)' \}\n"
)


@dataclass
class Folder:
    """One armed step, in the folder of Program Files and in the task."""

    within_s: int
    undo: list[str] = field(default_factory=list)
    read: str = ""
    """The line that gives the step's state."""
    kept: dict[str, str] = field(default_factory=dict)
    """Its text before the change, and as the change left it."""
    taken: bool = False
    confirmed: bool = False
    untouched: bool = False
    result: str = ""


class TimedPowerShell(DescribedPowerShell):
    """The `Runner` of a described Windows that has tasks."""

    def __init__(
        self, host: DescribedWindows, is_cut: Callable[[DescribedWindows], bool] = lambda _: False
    ) -> None:
        super().__init__(host)
        self.is_cut = is_cut
        self.folders: dict[str, Folder] = {}
        self.connections = 0
        self.fires_at: int | None = None
        self.refuses_to_arm = ""
        self.undo_refuses: set[int] = set()
        self.keeps_left = True
        """False: the change ends with the connection, before the state is kept."""

    def renew(self) -> None:
        self.connections += 1
        if self.connections == self.fires_at:
            for folder in self.folders.values():
                self._start(folder)

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 60.0,
        stdin: str | None = None,
        max_bytes: int = MAX_OUTPUT_BYTES,
    ) -> Completed:
        if self.is_cut(self.host):
            raise HostError("ssh.unreachable", where="desk", found="no route to host")
        done = super().run(argv, timeout_s=timeout_s, stdin=stdin, max_bytes=max_bytes)
        if self.is_cut(self.host):
            raise HostError("ssh.lost", where="desk", found="the connection ended")
        return done

    def _answer(self, rest: str) -> str:
        if armed := ARM.fullmatch(rest):
            return self._armed(armed[1], armed[2])
        if confirm := CONFIRM.match(rest):
            return self._section("outcome", self._outcome(confirm[1])) + super()._answer(
                rest[confirm.end() :]
            )
        if unless := UNLESS.search(rest):
            return self._changed(self.folders[unless[1]], rest)
        return super()._answer(rest)

    def _changed(self, folder: Folder, rest: str) -> str:
        """Do a change; its state is kept before it, and after it where all of it was done."""
        before, left = KEEP.findall(rest)
        assert (before[1], left[1]) == ("before", "left")
        assert rest.index("keep-before") < rest.index("change-0") < rest.index("keep-left")
        rest = UNLESS.sub("", KEEP.sub("", rest))
        if folder.taken:
            rest = re.sub(r"Step change-.*?\nif \(\$global:code\) \{ break \}\n", "", rest,
                          flags=re.S)  # fmt: skip
            return super()._answer(rest)
        text = self._do(before[2], is_change=False)[0]
        said = super()._answer(rest)
        if not folder.taken and not re.search(r"(?m) end [1-9]", said) and self.keeps_left:
            folder.kept = {"before": text, "left": self._do(left[2], is_change=False)[0]}
        return said

    def _of_tasks(self, part: re.Pattern[str], run: str) -> str:
        mine = {n: f for n, f in self.folders.items() if n.startswith(f"{run}-")}
        if part is SETTLE:
            for folder in mine.values():
                if not folder.confirmed:
                    self._start(folder)
        if part is SWEEP:
            for name, folder in mine.items():
                if folder.confirmed or folder.result:
                    del self.folders[name]
        if part is not OTHERS:
            return ""
        armed = [n for n, f in self.folders.items() if not f.confirmed and not f.result]
        names = [f"wirespeed-undo-{name}" for name in armed if name not in mine]
        return self._section("others", "\n".join(names))

    def _armed(self, token: str, body: str) -> str:
        if self.refuses_to_arm or body.startswith("\tthrow "):
            return self._section("armed", "", self.refuses_to_arm or body, 1)
        encoded = re.search(r"-EncodedCommand ([A-Za-z0-9+/=]+)'\n", body)
        seconds = re.search(r"AddSeconds\((\d+)\)", body)
        assert encoded and seconds
        assert f"Register-ScheduledTask -TaskName 'wirespeed-undo-{token}'" in body
        script = base64.b64decode(encoded[1]).decode("utf-16-le")
        assert f"'wirespeed-undo-{token}'" in script
        runs = RUN.findall(script)
        check = CHECK.search(script)
        assert check is not None
        rest = CHECK.sub("", script)
        assert rest.count("try {\n") == len(runs), "every command of it is known"
        assert [int(number) for _, number in runs] == list(range(len(runs)))
        self.folders[token] = Folder(int(seconds[1]), [line for line, _ in runs], check[1])
        return self._section("armed", "")

    def _start(self, folder: Folder) -> None:
        """As the task does."""
        if folder.taken:
            return
        folder.taken = True
        if "left" in folder.kept:
            now = self._do(folder.read, is_change=False)[0]
            if now not in folder.kept.values():
                folder.result = "theirs"
                return
        failed = ""
        for number, line in enumerate(folder.undo):
            command = Command(argv=words_of(line), shell=Shell.POWERSHELL)
            assert command.line() == line
            if number in self.undo_refuses or self.host.run(command).returncode:
                failed += f" {number}"
        folder.result = f"undone{failed}"

    def _otherwise(self, script: str) -> None:
        match = DISARM.fullmatch(script)
        assert match is not None, script
        folder = self.folders[match[1]]
        if not folder.taken:
            folder.taken = folder.untouched = folder.confirmed = True

    def _outcome(self, token: str) -> str:
        folder = self.folders.get(token)
        if folder is None:
            return "gone"
        if not folder.taken:
            folder.taken = folder.confirmed = True
        if folder.untouched:
            return "untouched"
        return "confirmed" if folder.confirmed else folder.result or "undoing"
