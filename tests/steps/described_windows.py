"""A described Windows: adapters, what is bound to them, switches and files; strict and stateful.

It answers the cmdlets that steps may send, by the rules of NetAdapter and Hyper-V, and raises for
any other. While a filter that crashes is bound to an adapter that is not its vendor's, making or
taking away a switch is a blue screen, as in the document: `rtf64x64` in `ndisFInvokeDetach`.
"""

import base64
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from json import dumps
from typing import Any

from proof import Answer, UnknownCommandError

from wirespeed.model.command import Command, Shell
from wirespeed.model.powershell import END, PIPE, PROGRAMS

Parameters = dict[str, list[str] | bool]
SWITCH = re.compile(r"(-[A-Za-z]+):\$(true|false)")


class BlueScreenError(Exception):
    """Windows stops here; what it had begun is not done."""


@dataclass
class Adapter:
    """One adapter, by its InterfaceDescription."""

    name: str
    bindings: dict[str, bool] = field(default_factory=dict)
    properties: dict[str, list[str]] = field(default_factory=dict)
    rss: dict[str, int | bool] = field(default_factory=dict)
    vmq: bool | None = None
    """None: the driver does not offer it, so there is no row."""


@dataclass
class Switch:
    kind: int
    adapter: str | None
    management: bool
    iov: bool


@dataclass
class DescribedWindows:
    adapters: dict[str, Adapter] = field(default_factory=dict)
    switches: dict[str, Switch] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    crashing: dict[str, str] = field(default_factory=dict)
    """Filters that crash, each with its own adapter."""
    boots: int = field(default=1, compare=False)
    copies: dict[str, bytes] = field(default_factory=dict, compare=False)
    """Files that a step leaves on purpose."""
    teams: dict[tuple[str, str], int] = field(default_factory=dict)
    """Cmdlets' noun and name to the algorithm, by the number that JSON makes of it."""
    multichannel: dict[str, bool] = field(default_factory=lambda: {"Client": True, "Server": True})
    migration: dict[str, bool] | None = None
    """EnableCompression and EnableSmbTransport; None: Hyper-V is not installed."""

    def run(self, command: Command) -> Answer:
        assert command.shell is Shell.POWERSHELL and command.stdin is None
        if command.argv[0] in PROGRAMS:
            raise UnknownCommandError(command.line())
        rows: list[dict[str, Any]] = []
        try:
            for pipeline in statements(command.argv):
                rows += self._pipeline(pipeline)
        except LookupError as error:
            # As Section and Step of our scripts do with what a cmdlet throws.
            return Answer(errors=str(error.args[0]), returncode=1)
        return Answer(output=dumps(rows, ensure_ascii=False))

    def _pipeline(self, pipeline: list[tuple[str, Parameters]]) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        for number, (cmdlet, given) in enumerate(pipeline):
            if cmdlet == "Select-Object":
                assert number and set(given) == {"-Property"}
                rows = [{name: row.get(name) for name in words(given, "-Property")} for row in rows]
                continue
            act = getattr(self, "_" + cmdlet.lower().replace("-", "_"), None)
            if number or act is None:
                raise UnknownCommandError(f"{cmdlet} {given}")
            rows = list(act(given) or ())
        return rows

    # NetAdapter ------------------------------------------------------------------------------

    def _get_netadapterbinding(self, given: Parameters) -> Iterator[dict[str, Any]]:
        assert given == {"-AllBindings": True, "-IncludeHidden": True}
        for description, adapter in self.adapters.items():
            for component, is_on in adapter.bindings.items():
                yield {
                    "Name": adapter.name, "InterfaceDescription": description,
                    "ComponentID": component, "Enabled": is_on,
                }  # fmt: skip

    def _disable_netadapterbinding(self, given: Parameters) -> None:
        self._bind(given, False)

    def _enable_netadapterbinding(self, given: Parameters) -> None:
        self._bind(given, True)

    def _bind(self, given: Parameters, is_on: bool) -> None:
        keys = {"-ComponentID", "-IncludeHidden", "-Confirm"}
        assert keys <= set(given) and given["-Confirm"] is False
        is_quiet = given.get("-ErrorAction") == ["SilentlyContinue"]
        if "-Name" in given:
            pattern = word(given, "-Name")
            adapters = [one for one in self.adapters.values() if like(one.name, pattern)]
        else:
            adapters = self._matching(given, is_quiet)
        found = [
            (adapter, component)
            for adapter in adapters
            for component in adapter.bindings
            if like(component, word(given, "-ComponentID"))
        ]
        if not found and not is_quiet:
            raise LookupError("No matching MSFT_NetAdapterBindingSettingData objects found")
        for adapter, component in found:
            adapter.bindings[component] = is_on

    def _get_netadapteradvancedproperty(self, given: Parameters) -> Iterator[dict[str, Any]]:
        assert {"-AllProperties", "-IncludeHidden"} < set(given)
        keywords = word(given, "-RegistryKeyword") if "-RegistryKeyword" in given else "*"
        for adapter in self._matching(given):
            for keyword, values in adapter.properties.items():
                if like(keyword, keywords):
                    yield {
                        "Name": adapter.name, "InterfaceDescription": self._description(adapter),
                        "RegistryKeyword": keyword, "RegistryValue": values,
                    }  # fmt: skip

    def _set_netadapteradvancedproperty(self, given: Parameters) -> None:
        assert set(given) - {"-Name", "-InterfaceDescription"} == {
            *("-RegistryKeyword", "-RegistryValue", "-AllProperties", "-IncludeHidden")
        }
        found = [
            (adapter, keyword)
            for adapter in self._matching(given)
            for keyword in adapter.properties
            if like(keyword, word(given, "-RegistryKeyword"))
        ]
        if not found:
            raise LookupError("No matching MSFT_NetAdapterAdvancedPropertySettingData objects")
        for adapter, keyword in found:
            adapter.properties[keyword] = [word(given, "-RegistryValue")]

    def _get_netadapterrss(self, given: Parameters) -> Iterator[dict[str, Any]]:
        assert set(given) == {"-InterfaceDescription"}
        for adapter in self._matching(given):
            if adapter.rss:
                yield {"InterfaceDescription": self._description(adapter), **adapter.rss}

    def _set_netadapterrss(self, given: Parameters) -> None:
        for adapter in self._matching(given):
            for name, value in given.items():
                if name == "-InterfaceDescription":
                    continue
                key = name.removeprefix("-")
                assert key in adapter.rss, name
                adapter.rss[key] = value if isinstance(value, bool) else int(word(given, name))

    def _get_netadaptervmq(self, given: Parameters) -> Iterator[dict[str, Any]]:
        assert set(given) == {"-InterfaceDescription"}
        for adapter in self._matching(given):
            if adapter.vmq is not None:
                yield {"InterfaceDescription": self._description(adapter), "Enabled": adapter.vmq}

    def _enable_netadaptervmq(self, given: Parameters) -> None:
        self._set_vmq(given, True)

    def _disable_netadaptervmq(self, given: Parameters) -> None:
        self._set_vmq(given, False)

    def _set_vmq(self, given: Parameters, is_on: bool) -> None:
        assert set(given) == {"-InterfaceDescription", "-Confirm"} and given["-Confirm"] is False
        (adapter,) = self._matching(given)
        assert adapter.vmq is not None
        adapter.vmq = is_on

    def _matching(self, given: Parameters, is_quiet: bool = False) -> list[Adapter]:
        if "-Name" in given:
            pattern = word(given, "-Name")
            found = [adapter for adapter in self.adapters.values() if like(adapter.name, pattern)]
        else:
            pattern = word(given, "-InterfaceDescription")
            found = [a for description, a in self.adapters.items() if like(description, pattern)]
        if not found and not is_quiet:
            raise LookupError(f"No MSFT_NetAdapter objects found with '{pattern}'")
        return found

    def _description(self, adapter: Adapter) -> str:
        return next(d for d, one in self.adapters.items() if one is adapter)

    # Hyper-V ---------------------------------------------------------------------------------

    def _get_vmswitch(self, given: Parameters) -> Iterator[dict[str, Any]]:
        assert not given
        for name, switch in self.switches.items():
            yield {
                "Name": name, "SwitchType": switch.kind,
                "NetAdapterInterfaceDescription": switch.adapter,
                "AllowManagementOS": switch.management, "IovEnabled": switch.iov,
            }  # fmt: skip

    def _new_vmswitch(self, given: Parameters) -> None:
        name, adapter = word(given, "-Name"), word(given, "-NetAdapterInterfaceDescription")
        assert set(given) == {
            *("-Name", "-NetAdapterInterfaceDescription", "-AllowManagementOS", "-EnableIov")
        }
        if adapter not in self.adapters:
            raise LookupError(f"No NetAdapter with '{adapter}'")
        if any(switch.adapter == adapter for switch in self.switches.values()):
            raise LookupError("the adapter is bound to another switch")
        self._detach()
        is_shared, iov = given["-AllowManagementOS"] is True, given["-EnableIov"] is True
        self.switches[name] = Switch(2, adapter, is_shared, iov)
        # Every filter binds itself to an adapter that comes.
        filters = dict.fromkeys((*self.crashing, "ms_tcpip"), True)
        self.adapters[own_description(name)] = own_adapter(name, filters)

    def _remove_vmswitch(self, given: Parameters) -> None:
        assert set(given) == {"-Name", "-Force"} and given["-Force"] is True
        found = [name for name in self.switches if like(name, word(given, "-Name"))]
        if not found:
            raise LookupError("Hyper-V was unable to find a virtual switch with that name")
        self._detach()
        for name in found:
            del self.switches[name]
            self.adapters.pop(own_description(name), None)

    def _set_vmswitch(self, given: Parameters) -> None:
        assert set(given) == {"-Name", "-AllowManagementOS"}
        for name, switch in self.switches.items():
            if like(name, word(given, "-Name")):
                switch.management = given["-AllowManagementOS"] is True

    def _detach(self) -> None:
        """Take down and build again what is bound to adapters, as a switch's coming does."""
        for component, own in self.crashing.items():
            for description, adapter in self.adapters.items():
                if adapter.bindings.get(component) and description != own:
                    self.boots += 1
                    raise BlueScreenError(f"{component} on {description}")

    # Teams, SMB and live migration -----------------------------------------------------------

    def _get_vmswitchteam(self, given: Parameters) -> Iterator[dict[str, Any]]:
        return self._team_rows("VMSwitchTeam", given)

    def _get_netlbfoteam(self, given: Parameters) -> Iterator[dict[str, Any]]:
        return self._team_rows("NetLbfoTeam", given)

    def _team_rows(self, noun: str, given: Parameters) -> Iterator[dict[str, Any]]:
        assert set(given) == {"-Name"}
        key = self._team(noun, given)
        return iter([{"Name": key[1], "LoadBalancingAlgorithm": self.teams[key]}])

    def _team(self, noun: str, given: Parameters) -> tuple[str, str]:
        for key in self.teams:
            if key[0] == noun and key[1].lower() == word(given, "-Name").lower():
                return key
        raise LookupError(f"No MSFT_{noun} objects found with property 'Name'")

    def _set_vmswitchteam(self, given: Parameters) -> None:
        self._set_team("VMSwitchTeam", given, {"HyperVPort": 4, "Dynamic": 5})

    def _set_netlbfoteam(self, given: Parameters) -> None:
        names = {"TransportPorts": 0, "IPAddresses": 2, "MacAddresses": 3}
        self._set_team("NetLbfoTeam", given, names | {"HyperVPort": 4, "Dynamic": 5})

    def _set_team(self, noun: str, given: Parameters, names: dict[str, int]) -> None:
        assert set(given) == {"-Name", "-LoadBalancingAlgorithm", "-Confirm"}
        assert given["-Confirm"] is False
        self.teams[self._team(noun, given)] = names[word(given, "-LoadBalancingAlgorithm")]

    def _get_smbclientconfiguration(self, given: Parameters) -> Iterator[dict[str, Any]]:
        assert not given
        yield {"EnableMultiChannel": self.multichannel["Client"]}

    def _get_smbserverconfiguration(self, given: Parameters) -> Iterator[dict[str, Any]]:
        assert not given
        yield {"EnableMultiChannel": self.multichannel["Server"]}

    def _set_smbclientconfiguration(self, given: Parameters) -> None:
        self._set_multichannel("Client", given)

    def _set_smbserverconfiguration(self, given: Parameters) -> None:
        self._set_multichannel("Server", given)

    def _set_multichannel(self, end: str, given: Parameters) -> None:
        # Without -Force the cmdlet asks, and a session that nobody watches waits for ever.
        assert set(given) == {"-EnableMultiChannel", "-Force"} and given["-Force"] is True
        self.multichannel[end] = given["-EnableMultiChannel"] is True

    def _get_ciminstance(self, given: Parameters) -> Iterator[dict[str, Any]]:
        assert word(given, "-Namespace") == "root\\virtualization\\v2"
        assert word(given, "-ClassName") == "Msvm_VirtualSystemMigrationServiceSettingData"
        if self.migration is None:
            raise LookupError("Invalid namespace")
        yield dict(self.migration)

    def _set_vmhost(self, given: Parameters) -> None:
        assert set(given) == {"-VirtualMachineMigrationPerformanceOption"}
        assert self.migration is not None
        compressed, smb = {
            "TCPIP": (False, False), "Compression": (True, False), "SMB": (False, True),
        }[word(given, "-VirtualMachineMigrationPerformanceOption")]  # fmt: skip
        self.migration = {"EnableCompression": compressed, "EnableSmbTransport": smb}

    # Files -----------------------------------------------------------------------------------

    def _get_filebytes(self, given: Parameters) -> Iterator[dict[str, Any]]:
        content = self.files.get(word(given, "-Path"))
        encoded = base64.b64encode(content or b"").decode()
        yield {"Exists": content is not None, "Base64": encoded}

    def _new_item(self, given: Parameters) -> None:
        assert set(given) == {"-Path", "-ItemType", "-Value", "-Force"}
        assert word(given, "-ItemType") == "File" and given["-Force"] is True
        # StreamWriter's own encoding: UTF-8 without a mark.
        self.files[word(given, "-Path")] = word(given, "-Value").encode()

    def _copy_item(self, given: Parameters) -> None:
        assert set(given) == {"-LiteralPath", "-Destination"}
        self.copies[word(given, "-Destination")] = self._file(given)

    def _remove_item(self, given: Parameters) -> None:
        assert given["-Force"] is True
        self._file(given)
        del self.files[word(given, "-LiteralPath")]

    def _file(self, given: Parameters) -> bytes:
        path = word(given, "-LiteralPath")
        if path not in self.files:
            raise LookupError(f"Cannot find path '{path}' because it does not exist.")
        return self.files[path]


def own_adapter(switch: str, bindings: dict[str, bool]) -> Adapter:
    """The host's own adapter on a switch, as it comes."""
    return Adapter(f"vEthernet ({switch})", bindings, {"*JumboPacket": ["1514"]})


def own_description(switch: str) -> str:
    """Name the host's own adapter on a switch."""
    return f"Hyper-V Virtual Ethernet Adapter of {switch}"


def statements(argv: Sequence[str]) -> Iterator[list[tuple[str, Parameters]]]:
    """Read the words of a command again, as the cmdlets get them."""
    rest = iter(argv)
    pipeline: list[tuple[str, Parameters]] = [(next(rest), {})]
    for one in rest:
        if one in (PIPE, END):
            if one == END:
                yield pipeline
                pipeline = []
            pipeline.append((next(rest), {}))
            continue
        given = pipeline[-1][1]
        if match := SWITCH.fullmatch(one):
            given[match[1]] = match[2] == "true"
            continue
        values = given.setdefault(one, [])
        assert isinstance(values, list)
        values.append(next(rest))
    yield pipeline


def word(given: Parameters, name: str) -> str:
    (value,) = words(given, name)
    return value


def words(given: Parameters, name: str) -> list[str]:
    found = given[name]
    assert isinstance(found, list)
    return found


def like(name: str, pattern: str) -> bool:
    """Match as `-like`: * ? [set], a backtick before what stands for itself, no case."""
    out, rest = "", iter(pattern)
    for char in rest:
        if char == "`":
            out += re.escape(next(rest))
        elif char in "*?":
            out += ".*" if char == "*" else "."
        elif char == "[":
            chosen = "".join(iter(lambda: next(rest), "]"))
            out += f"[{re.escape(chosen)}]"
        else:
            out += re.escape(char)
    return re.fullmatch(out, name, re.I | re.S) is not None
