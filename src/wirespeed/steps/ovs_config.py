"""A setting of Open vSwitch as a whole: `other_config` of its one row."""

import re
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from wirespeed.facts.distribution import SwitchUnit
from wirespeed.facts.ovsdb_table import mapping, tables_of
from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Scope, State, Step

TIMEOUT = "--timeout=10"
"""Without it, ovs-vsctl waits for ever for a database that does not answer."""
ROW = ("Open_vSwitch", ".")
STARTED = "rundir"
"""Key of `external_ids` that ovs-ctl sets at every start (set_system_ids)."""
KEY = r"^[a-z][a-z0-9-]{0,63}$"
VALUE = r"^[A-Za-z0-9_.:,=\[\]@/ -]{1,512}$"
BARE = r"[A-Za-z0-9_.-]+"
OVS_CTL = ("/usr/share/openvswitch/scripts/ovs-ctl", "restart", "--no-monitor")
"""For a host that systemd does not run."""
DPDK_INIT, INITIALIZED = "dpdk-init", "dpdk_initialized"
"""A wish, and the column (since 2.10) by which the daemon says whether DPDK started with it."""


class OvsConfig(Step):
    """The key has this value, and the daemon is restarted for it where it only reads it at start.

    That a restart is due is noted in the row itself, in the transaction that sets the value: who
    is killed between the two still knows. The same transaction takes `external_ids:rundir` away,
    which only a start by ovs-ctl sets: that it is back proves the restart. Undo puts the former
    value back, or takes the key away, and restarts again. Meanwhile the kernel's datapath is
    without its daemon for a second, and a userspace datapath is not there at all.

    With `dpdk-init`, it is done when the daemon says that DPDK started. A build without DPDK runs
    on and says that it did not; one that finds too few hugepages ends itself, so that the restart
    fails (3.1). The column is cleared with the key: what it says is of this start.
    """

    scope: ClassVar[Scope] = Scope.OS
    danger: ClassVar[Danger] = Danger.DROPS_LINK
    step: Literal["ovs_config"] = "ovs_config"
    key: Annotated[str, Field(pattern=KEY)]
    value: Annotated[str, Field(pattern=VALUE)]
    restart: Literal["systemd", "ovs-ctl"] | None = None
    """Who restarts it; None: it takes the value as it runs."""
    unit: SwitchUnit = "openvswitch-switch.service"
    """Of systemd."""
    reason: str

    @property
    def subject(self) -> str:
        return f"other_config:{self.key}"

    @property
    def why(self) -> str:
        """As the maker of the step gives it."""
        return self.reason

    def read(self) -> Command:
        columns = "--columns=other_config,external_ids"
        if self._is_of_dpdk:
            columns += f",{INITIALIZED}"
        start = ("ovs-vsctl", TIMEOUT, "--format=json")
        return Command(argv=(*start, columns, "list", "Open_vSwitch"))

    def parse(self, section: Section) -> Observed[State]:
        """Give the value; None where the key is not set."""
        source = self.read().line()
        text = section.text(source)
        if not isinstance(text, Known):
            return Unreadable(text.reason, source)
        tables = tables_of(text.value, source)
        if not isinstance(tables, Known):
            return Unreadable("it printed no table", source)
        if len(tables.value) != 1 or len(tables.value[0]) != 1:
            return Unreadable("it printed no row of Open_vSwitch", source)
        row = tables.value[0][0]
        value = mapping(row.get("other_config")).get(self.key)
        if value is not None and not re.fullmatch(VALUE, value):
            return Unreadable(f"{value[:40]!r} could not be restored by undo", source)
        state: State = {"value": value}
        if self.restart is not None:
            marks = mapping(row.get("external_ids"))
            if self._note not in marks and STARTED not in marks:
                return Unreadable(f"it has no {STARTED}: it was not started by ovs-ctl", source)
            state["is_restart_due"] = self._note in marks or STARTED not in marks
        if self._is_of_dpdk:
            said = row.get(INITIALIZED)
            if not isinstance(said, bool):
                return Unreadable(f"it does not show whether DPDK runs: no {INITIALIZED}", source)
            state[INITIALIZED] = said
        return Known(state, source)

    def wanted(self, before: State) -> State:
        """Give the value that is asked for, and the daemon that was started with it."""
        state: State = {"value": self.value}
        if self.restart is not None:
            state["is_restart_due"] = False
        if self._is_of_dpdk:
            state[INITIALIZED] = self.value == "true"
        return state

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Set it, or take the key away; then restart, and note that it is done."""
        words = ["set", *ROW, f"other_config:{self.key}={as_string(str(to['value']))}"]
        if to["value"] is None:
            words = ["remove", *ROW, "other_config", self.key]
        if self.restart is None:
            return (_vsctl(*words),)
        note = ["--", "set", *ROW, f"external_ids:{self._note}=due"]
        note += ["--", "remove", *ROW, "external_ids", STARTED]
        if self._is_of_dpdk:
            note += ["--", "set", *ROW, f"{INITIALIZED}=false"]
        done = _vsctl("remove", *ROW, "external_ids", self._note)
        is_set = now["value"] == to["value"]
        first = () if is_set else (_vsctl(*words, *note),)
        by_systemd = ("systemctl", "restart", self.unit)
        restart = Command(argv=by_systemd if self.restart == "systemd" else OVS_CTL)
        return (*first, restart, done)

    @property
    def _is_of_dpdk(self) -> bool:
        return self.key == DPDK_INIT and self.restart is not None

    @property
    def _note(self) -> str:
        return f"wirespeed-restart-{self.key}"


def _vsctl(*words: str) -> Command:
    return Command(argv=("ovs-vsctl", TIMEOUT, "--no-wait", *words))


def as_string(value: str) -> str:
    """Write a string as ovs-vsctl reads it: with "" where it would read a set or a map."""
    return value if re.fullmatch(BARE, value) else f'"{value}"'
