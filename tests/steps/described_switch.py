"""Described switches: what each kind takes, keeps and shows of its ports. Strict and stateful.

A line that the kind does not know is refused in its words; one that no test foresaw raises. The
running configuration is what `end` or `nv config apply` left; a restart brings back what was saved.
"""

import json
import re
from copy import deepcopy
from dataclasses import dataclass, field

from proof import Answer, UnknownCommandError

from wirespeed.model.command import Command, Shell
from wirespeed.model.switch_kind import SwitchKind

K = SwitchKind
REFUSED = {
    K.DELL_OS6: "                ^\n% Invalid input detected at '^' marker.\n",
    K.DELL_OS9: '% Error: Invalid input at "^" marker.\n',
    K.DELL_OS10: "% Error: Illegal parameter.\n",
    K.EOS: "% Invalid input\n",
    K.NXOS: "                ^\n% Invalid command at '^' marker.\n",
}
"""As the manuals and drivers of each show it."""
TAKES: dict[SwitchKind, dict[str, str]] = {
    K.DELL_OS6: {r"speed (1000|10000)": "speed", r"speed auto": "-speed"},
    K.DELL_OS9: {
        r"speed (1000|10000)": "speed", r"speed auto": "-speed",
        r"mtu (\d{4})": "mtu", r"no mtu": "-mtu",
    },
    K.DELL_OS10: {
        r"speed (10000|25000)": "speed", r"speed auto": "-speed",
        r"negotiation (on|off)": "negotiation", r"negotiation auto": "-negotiation",
        r"fec (CL108-RS|CL74-FC|off)": "fec", r"no fec": "-fec",
        r"mtu (\d{4})": "mtu", r"no mtu": "-mtu",
    },
    K.EOS: {
        r"speed (forced (?:10|25)gfull)": "speed", r"no speed": "-speed",
        r"error-correction encoding (reed-solomon|fire-code)": "error-correction encoding",
        r"no error-correction encoding()": "no error-correction encoding",
        r"default error-correction encoding": "-error-correction encoding",
    },
    K.NXOS: {
        r"speed (10000|25000)": "speed", r"speed auto": "-speed",
        r"no negotiate auto()": "no negotiate auto", r"negotiate auto": "-no negotiate auto",
        r"fec (rs-fec|fc-fec|off)": "fec", r"fec auto": "-fec",
        r"mtu (\d{4})": "mtu", r"no mtu": "-mtu",
    },
}  # fmt: skip
"""A line of a port's configuration, and which setting it makes; `-`: takes away."""


@dataclass
class DescribedSwitch:
    """One switch with ports that have the settings `ports[name]`."""

    kind: SwitchKind
    ports: dict[str, dict[str, str]] = field(default_factory=dict)
    saved: dict[str, dict[str, str]] = field(default_factory=dict)
    mode: str = "exec"
    """`exec`, `config`, or the port that is configured."""
    pending: dict[str, dict[str, str]] | None = None
    """Of Cumulus: what was set and not applied."""

    def run(self, command: Command) -> Answer:
        """Type the lines of a command up to the first that is refused, and leave."""
        assert command.shell is Shell.SWITCH and command.stdin is None
        said = ""
        for line in command.argv:
            answer = self.type(line)
            if any(word in answer for word in ("% ", "Error:")):
                self.mode, self.pending = "exec", None
                return Answer(said, answer, 1)
            said += answer
        return Answer(said)

    def type(self, line: str) -> str:
        """Type one line, and give what is printed."""
        if self.kind is K.SONIC:
            return self._sonic(line)
        if self.kind is K.CUMULUS:
            return self._cumulus(line)
        return self._lines(line)

    def save(self) -> str:
        """Save it, by the line of the kind."""
        lines = {K.SONIC: "sudo -n config save -y", K.CUMULUS: "nv config save"}
        return self.type(lines.get(self.kind, "copy running-config startup-config"))

    def restart(self) -> None:
        """Come up with what was saved."""
        self.ports, self.mode, self.pending = deepcopy(self.saved), "exec", None

    def _lines(self, line: str) -> str:
        enters = "configure" if self.kind in (K.DELL_OS6, K.DELL_OS9) else "configure terminal"
        if self.mode == "exec":
            if line == enters:
                self.mode = "config"
                return ""
            shown = re.fullmatch(
                r"show running-config(?:uration)?(?: interface|\sinterfaces) (.+)", line
            )
            if shown:
                return self._shown(shown[1])
            if line in ("show startup-config", "show startup-configuration"):
                return self._saved()
            if line == "copy running-config startup-config":
                self.saved = deepcopy(self.ports)
                return "Configuration Saved!\n"
            if line == "end":
                return REFUSED[self.kind]
            raise UnknownCommandError(line)
        if line == "end":
            self.mode = "exec"
            return ""
        entered = re.fullmatch(r"interface (.+)", line)
        if entered:
            if entered[1] not in self.ports:
                return "% Error: An invalid interface has been used for this function.\n"
            self.mode = entered[1]
            return ""
        assert self.mode != "config", f"{line}: of no port"
        for pattern, setting in TAKES[self.kind].items():
            match = re.fullmatch(pattern, line)
            if match is None:
                continue
            port = self.ports[self.mode]
            if setting.startswith("-"):
                port.pop(setting[1:], None)
                port.pop(f"no {setting[1:]}", None)
            elif self.kind is K.NXOS and setting.startswith("no ") and "speed" not in port:
                return "ERROR: Error: set the speed first\n"
            else:
                port[setting] = match[1]
            return ""
        return REFUSED[self.kind]

    def _shown(self, port: str) -> str:
        if port not in self.ports:
            return "% Error: An invalid interface has been used for this function.\n"
        lines = [f"{name} {value}".strip() for name, value in self.ports[port].items()]
        if self.kind is K.DELL_OS6:
            return "\n".join([*lines, ""])
        indent = "   " if self.kind is K.EOS else " "
        inside = "".join(f"{indent}{line}\n" for line in ("description to a node", *lines))
        return f"!\ninterface {port}\n{inside}{indent}no shutdown\n!\n"

    def _saved(self) -> str:
        """Show it with each port's block, and `exit` or `!` after it."""
        text = "!Current Configuration:\n"
        for port, has in self.saved.items():
            lines = [f" {name} {value}".rstrip() for name, value in has.items()]
            text += "\n".join(
                (f"interface {port}", *lines, "exit" if self.kind is K.DELL_OS6 else "!")
            )
            text += "\n"
        return text

    def _sonic(self, line: str) -> str:
        if line == "cat /etc/sonic/config_db.json":
            return json.dumps({"PORT": self.saved}, indent=4) + "\n"
        if line == "sudo -n config save -y":
            self.saved = deepcopy(self.ports)
            return "Running command: /usr/local/bin/sonic-cfggen -d --print-data\n"
        shown = re.fullmatch(r'sonic-db-cli CONFIG_DB hgetall "PORT\|(\w+)"', line)
        if shown:
            return f"{ {'admin_status': 'up', 'lanes': '3'} | self.ports[shown[1]] }\n"
        match = re.fullmatch(r"sudo -n config interface (speed|autoneg|fec|mtu) (\w+) (\w+)", line)
        if match is None:
            raise UnknownCommandError(line)
        what, port, value = match.groups()
        takes = {
            "speed": r"10000|25000", "autoneg": "enabled|disabled", "fec": "rs|fc|none|auto",
            "mtu": r"\d{4}",
        }  # fmt: skip
        if not re.fullmatch(takes[what], value) or port not in self.ports:
            return f"Error: invalid {what} {value}\n"
        self.ports[port][what] = {"enabled": "on", "disabled": "off"}.get(value, value)
        return ""

    def _cumulus(self, line: str) -> str:
        if line == "nv config show -o commands":
            every = "nv set bridge domain br_default\nnv set interface swp9-12 type swp\n"
            return every + "".join(
                f"nv set interface {port} link {name} {value}\n"
                for port, has in self.ports.items()
                for name, value in has.items()
            )
        shown = re.fullmatch(r"nv show interface --rev=(applied|startup) -o json", line)
        if shown:
            # What is not set stands there as its default.
            ports = self.ports if shown[1] == "applied" else self.saved
            default = {"auto-negotiate": "on", "mtu": 9216, "speed": "auto"}
            return json.dumps(
                {port: {"link": {**default, **has}, "type": "swp"} for port, has in ports.items()}
            )
        if line == "nv config save":
            self.saved = deepcopy(self.ports)
            return "saved [rev_id: applied]\n"
        if line == "nv config detach":
            self.pending = None
            return ""
        if line == "nv config apply -y":
            self.ports, self.pending = self.pending or self.ports, None
            return "applied [rev_id: 2]\n"
        match = re.fullmatch(r"nv (set|unset) interface (\w+) link (\S+)(?: (\S+))?", line)
        if match is None:
            raise UnknownCommandError(line)
        verb, port, what, value = match.groups()
        takes = {
            "speed": r"10G|25G", "auto-negotiate": "on|off", "fec": "rs|baser|off|auto",
            "mtu": r"\d{4}",
        }  # fmt: skip
        self.pending = deepcopy(self.ports) if self.pending is None else self.pending
        if verb == "set" and not re.fullmatch(takes[what], value or ""):
            return f"Error: GET {value} is not valid\n"
        if verb == "set":
            self.pending[port][what] = value or ""
        else:
            self.pending[port].pop(what, None)
        return ""


PORTS = {
    K.DELL_OS6: "Te1/0/1",
    K.DELL_OS9: "TenGigabitEthernet 1/1",
    K.DELL_OS10: "ethernet1/1/1",
    K.SONIC: "Ethernet0",
    K.CUMULUS: "swp1",
    K.EOS: "Ethernet1",
    K.NXOS: "Ethernet1/1",
}


def switch(kind: SwitchKind, **settings: str) -> DescribedSwitch:
    """Describe a switch whose port has these settings, and another port that nobody touches."""
    names = {key.replace("__", " ").replace("_", "-"): value for key, value in settings.items()}
    ports = {PORTS[kind]: names, PORTS[kind] + "9": {"mtu": "1600"}}
    if kind is K.SONIC:
        rest = {"speed": "25000", "autoneg": "on", "fec": "none", "mtu": "9100"}
        ports = {PORTS[kind]: {**rest, **names}, "Ethernet99": dict(rest)}
    return DescribedSwitch(kind, ports, deepcopy(ports))
