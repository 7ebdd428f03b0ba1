"""A described Windows behind a runner: it reads our scripts, strictly, and can fail, hang or crash.

Only what a script has besides its `Step` blocks is known by its text; each block's command is read
back from its line, by PowerShell's rules of quoting, and given to the described host.
"""

import base64
import re
from collections.abc import Callable, Sequence

from described_windows import BlueScreenError, DescribedWindows

from wirespeed.host.powershell import POWERSHELL
from wirespeed.host.runner import MAX_OUTPUT_BYTES, Completed
from wirespeed.model.command import Command, Shell
from wirespeed.model.error import HostError, MeasurementError
from wirespeed.platforms.windows.control_script import DONE, PRELUDE, SAY_CHANGE
from wirespeed.platforms.windows.rollback_timer import others_part, settle_part, sweep_part

STEP = re.compile(
    r"Step (\S+) (rows|lines|none) \{\n(.*?)\n\}\n(if \(\$global:code\) \{ break \}\n)?", re.S
)
STILL = re.compile(
    r"Step still none \{\nStill (rows|lines) ('(?:[^']|'')*') \{\n(.*?)\n\}\n\}\n"
    r"if \(\$global:code\) \{\n(.*?)\tbreak\n\}\n",
    re.S,
)
TAKE = re.compile(r"-Path \$lock \| Out-Null\n\tSet-Content .* -Value ('(?:[^']|'')*') -Encoding")
GIVE = re.compile(
    r"Step owner lines \{\n\tif .*\n.* -eq (\'(?:[^\']|\'\')*\'\)) \{\n\t\tRemove-Item"
)
OVER = re.compile(
    r"if \(-not \$stranger -and \("
    r"(?:\$true|\"\$\([^)]*\)(?:[^)]*\))*\" -eq ('(?:[^']|'')*'))\)\) \{\n\t\$owner = .*"
    r"-LiteralPath \$owner -Value ('(?:[^']|'')*') -Encoding", re.S
)  # fmt: skip
TOKEN = re.compile(r"\s*('(?:[^']|'')*'(?:,'(?:[^']|'')*')*|[^\s;|]+|[;|])")
ID = "0" * 32
SETTLE, SWEEP, OTHERS = (
    # Where it stands twice, it is the same run.
    re.compile(re.escape(part(ID)).replace(ID, "([0-9a-f]{32})", 1).replace(ID, r"\1"))
    for part in (settle_part, sweep_part, others_part)
)
MARK = "0b8f3f2e-0000-4000-8000-000000000001"


class DescribedPowerShell:
    """The `Runner` of a described Windows. `before` is asked before each command of a change.

    It gives `fail`, `hang`, `lose` (the connection ends, the command is done) or `crash`.
    """

    def __init__(self, host: DescribedWindows) -> None:
        self.host = host
        self.owner = ""
        self.owner_boot = 0
        self.stranger = ""
        """What an ordinary user made in the place of the lock; then nothing else of it is told."""
        self.count = 0
        self.trouble: dict[int, str] = {}
        self.ran: list[str] = []
        self.away = 0
        """For how many more questions there is no answer."""
        self.scripts: list[str] = []
        self.colleague: Callable[[DescribedWindows], None] | None = None
        """Comes once, before the next change and after all that was read."""

    def renew(self) -> None:
        pass

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 60.0,
        stdin: str | None = None,
        max_bytes: int = MAX_OUTPUT_BYTES,
    ) -> Completed:
        assert tuple(argv) == POWERSHELL and stdin is not None
        if self.away:
            self.away -= 1
            raise HostError("ssh.unreachable", where="desk", found="no route to host")
        script = base64.b64decode(stdin).decode()
        self.scripts.append(script)
        assert script.startswith(PRELUDE) and script.endswith(DONE)
        try:
            output = self._answer(script.removeprefix(PRELUDE).removesuffix(DONE))
        except BlueScreenError:
            self.away = 2
            raise HostError("ssh.lost", where="desk", found="the connection ended") from None
        return Completed(
            argv=tuple(argv),
            output=f"wirespeed-capture 1 {MARK}\n{output}{MARK} done\n",
            errors="",
            returncode=0,
            duration_s=0.1,
        )

    def _answer(self, rest: str) -> str:
        out = ""
        others = ""
        for part in (SETTLE, SWEEP, OTHERS):
            if found := part.search(rest):
                others += self._of_tasks(part, found[1])
                rest = rest.replace(found[0], "")
        if "Step stranger lines { $stranger }" in rest and self.stranger:
            assert "$stranger = StrangerInLock\nif (-not $stranger" in rest
            whose = f"C:\\ProgramData\\wirespeed.lock is {self.stranger}"
            return self._section("stranger", whose) + self._section("owner", "") + others
        if over := OVER.search(rest):
            if over[1] is None or unquoted(over[1]) == self.owner:
                self.owner, self.owner_boot = unquoted(over[2]), self.host.boots
            return (
                self._section("owner", self.owner) + self._section("boot-id", self._boot) + others
            )
        if taken := TAKE.search(rest):
            if not self.owner or self.owner_boot != self.host.boots:
                self.owner, self.owner_boot = unquoted(taken[1]), self.host.boots
            return (
                self._section("owner", self.owner) + self._section("boot-id", self._boot) + others
            )
        if given := GIVE.search(rest):
            if self.owner == unquoted(given[1].removesuffix(")")):
                self.owner = ""
            return self._section("owner", "")
        is_stopped = False
        if SAY_CHANGE in rest and self.colleague is not None:
            self.colleague(self.host)
            self.colleague = None
        while rest:
            if still := STILL.match(rest):
                rest = rest[still.end() :]
                text, code = self._do(still[3], is_change=False)
                if code or text != unquoted(still[2]):
                    is_stopped = True
                    self._otherwise(still[4])
                said = "it is no longer as it was read" if is_stopped else ""
                out += self._section("still", "", said, int(is_stopped))
                continue
            if rest.startswith("Step boot-id lines { BootId }\n"):
                rest = rest.removeprefix("Step boot-id lines { BootId }\n")
                out += self._section("boot-id", self._boot)
                continue
            for known in (SAY_CHANGE, "do {\n", "} while ($false)\n", "AwaitChange\n"):
                if rest.startswith(known):
                    rest = rest.removeprefix(known)
                    break
            else:
                match = STEP.match(rest)
                assert match is not None, rest[:200]
                rest = rest[match.end() :]
                is_change = match[1].startswith("change-")
                assert is_change == (match[2] == "none") == bool(match[4])
                if is_change and is_stopped:
                    continue
                text, code = self._do(match[3], is_change)
                is_stopped |= is_change and code != 0
                out += self._section(match[1], "" if is_change else text, text, code)
        return out

    def _owned(self) -> str:
        return self._section("owner", self.owner) + self._section("boot-id", self._boot)

    def _of_tasks(self, part: re.Pattern[str], run: str) -> str:
        """It has no tasks: described_powershell_timer.py has."""
        assert run
        return self._section("others", "") if part is OTHERS else ""

    def _do(self, line: str, is_change: bool) -> tuple[str, int]:
        command = Command(argv=words_of(line), shell=Shell.POWERSHELL)
        assert command.line() == line
        trouble = ""
        if is_change:
            trouble = self.trouble.pop(self.count, "")
            self.count += 1
            self.ran.append(line)
        if trouble == "fail":
            return "refused", 1
        if trouble == "crash":
            self.host.boots += 1
            raise BlueScreenError
        if trouble == "hang":
            raise MeasurementError("command.timeout", where="desk", found="still running")
        answer = self.host.run(command)
        if trouble == "lose":
            self.away = 1
            raise HostError("ssh.lost", where="desk", found="the connection ended")
        return answer.output or answer.errors, answer.returncode

    def _otherwise(self, script: str) -> None:
        assert script == ""

    @property
    def _boot(self) -> str:
        return f"6380000000{self.host.boots}"

    def _section(self, name: str, output: str, errors: str = "", code: int = 0) -> str:
        said = f"\n{MARK} errors\n{errors}" if code else ""
        return f"{MARK} begin {name} -\n{'' if code else output}{said}\n{MARK} end {code}\n"


def words_of(line: str) -> tuple[str, ...]:
    """Read a command's words back from its line."""
    words: list[str] = []
    for token in TOKEN.findall(line):
        if token.startswith("'"):
            values = [unquoted(one) for one in re.findall(r"'(?:[^']|'')*'", token)]
            name = words[-1]
            words.append(values[0])
            for value in values[1:]:
                words += [name, value]
        else:
            words.append(token)
    return tuple(words)


def unquoted(text: str) -> str:
    return text[1:-1].replace("''", "'")
