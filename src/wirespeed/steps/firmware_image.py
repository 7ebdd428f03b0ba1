"""Firmware of a card of Mellanox or NVIDIA: an image is burnt, and runs after a reset."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.model.names import PciAddress
from wirespeed.model.observed import Known, Observed, Unreadable, read_as
from wirespeed.model.step import Scope, State, Step
from wirespeed.steps.firmware_query import (
    ASKED_S,
    IMAGE,
    PSID,
    VERSION,
    all_of,
    answers,
    as_numbers,
)

RESETS = {"mstflint": "mstfwreset", "flint": "mlxfwreset"}
BURN = """\
copy=$(mktemp -d /run/wirespeed-firmware-XXXXXXXX) || exit
trap 'rm -r "$copy"' EXIT
trap 'exit 1' HUP INT TERM
image=$copy/image.${3##*.}
cp -- "$3" "$image" && said=$("$1" -i "$image" query) || exit
for line in "PSID:[[:blank:]]+$4" "FW Version:[[:blank:]]+$5"; do
	printf '%s\\n' "$said" | grep -Eqx "$line[[:blank:]]*" || {
		echo "$3 was changed since it was read: it is not of PSID $4 and version $6" >&2
		exit 1
	}
done
"$1" -d "$2" -i "$image" -y burn
"""
"""Copies an image to a folder of root's alone, asks the copy, and burns it: nobody else writes to
it between the question and the burning."""
Image = Annotated[str, Field(pattern=IMAGE)]
Version = Annotated[str, Field(pattern=VERSION)]


class FirmwareImage(Step):
    """The card holds the firmware of `image`, and runs it where `is_loaded`.

    The card, the image and the former image are asked each time: nothing is known, and so nothing
    is burnt, unless all have the PSID that is given, each image holds the version that is said of
    it, and the card does not hold a newer one (unless `may_be_older`). The tool itself refuses
    another PSID too; it is never told to allow one. A copy of the image is burnt: see `BURN`.

    Undo burns the former image. Without one there is no way back, which the step says, and which is
    refused on its own (`apply.firmware_guard`).

    With `is_loaded` the card is reset after it was burnt: every port of it goes down for some
    seconds, its VFs go away, and what was set on its netdevs is lost. Where that takes a reboot of
    the host the tool refuses. Without, the new firmware runs from the next reset or boot on.
    """

    scope: ClassVar[Scope] = Scope.CARD
    writes_card: ClassVar[bool] = True
    danger: ClassVar[Danger] = Danger.FIRMWARE
    read_s: ClassVar[int] = ASKED_S
    settle_s: ClassVar[float] = 60
    step: Literal["firmware_image"] = "firmware_image"
    pci_address: PciAddress
    """Of one function of the card; all of them have the same firmware."""
    functions: Annotated[tuple[PciAddress, ...], Field(max_length=64)] = ()
    """The card's other functions: they go down with it."""
    tool: Literal["mstflint", "flint"] = "mstflint"
    psid: Annotated[str, Field(pattern=PSID)]
    """`MT_0000000228`: which card it is made for, by board and maker."""
    image: Image
    """Path on the host."""
    version: Version
    former_image: Image | None = None
    former_version: Version | None = None
    is_loaded: bool = False
    may_be_older: bool = False

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if (self.former_image is None) != (self.former_version is None):
            raise ValueError("a former image and its version go together")
        if ".." in f"{self.image}{self.former_image}" or self.image == self.former_image:
            raise ValueError("paths without `..`, and two images are two files")
        return self

    @property
    def subject(self) -> str:
        return self.pci_address

    @property
    def why(self) -> str:
        """Say what it takes, and whether there is a way back."""
        loaded = "The card is reset and its ports go down" if self.is_loaded else "It waits"
        back = f"{self.former_version} can be burnt again" if self.former_image else "NO WAY BACK"
        how = "" if self.is_loaded else " for a reset or a boot"
        return f"The release notes say what {self.version} fixes. {loaded}{how}. {back}."

    @property
    def waits_for_reboot(self) -> bool:
        """Whether the former firmware runs until the host's next boot, or the card's reset."""
        return not self.is_loaded

    def read(self) -> Command:
        images = [path for path in (self.image, self.former_image) if path is not None]
        return all_of(
            (self.tool, "-d", self.pci_address, "-qq", "query"),
            *((self.tool, "-i", path, "query") for path in images),
        )

    def parse(self, section: Section) -> Observed[State]:
        """Give what the card holds; unreadable unless everything fits."""
        source = self.read().line()
        text = section.text(source)
        if not isinstance(text, Known):
            return Unreadable(text.reason, source)
        return read_as(text, self._state)

    def _state(self, text: str) -> State:
        said = [("the card", None), (self.image, self.version)]
        if self.former_image is not None:
            said.append((self.former_image, self.former_version))
        found = answers(text)
        if len(found) != len(said):
            raise ValueError(f"{len(found)} of {len(said)} answered")
        for (what, version), answer in zip(said, found, strict=True):
            holds = answer.get("FW Version", "")
            if answer.get("PSID") != self.psid:
                raise ValueError(f"{what} has PSID {answer.get('PSID')}, not {self.psid}")
            if as_numbers(holds) != as_numbers(version or holds):
                raise ValueError(f"{what} holds {holds}, not {version}")
        stored = found[0]["FW Version"]
        if as_numbers(stored) > as_numbers(self.version) and not self.may_be_older:
            raise ValueError(f"the card holds {stored}, newer than {self.version}: may_be_older")
        state: State = {"stored": _plain(stored)}
        if self.is_loaded:
            # The line is there only where it differs.
            state["running"] = _plain(found[0].get("FW Version(Running)", stored))
        return state

    def wanted(self, before: State) -> State:
        return dict.fromkeys(before, _plain(self.version))

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Burn the image of that version, where there is one; then reset the card."""
        images = {_plain(self.version): self.image}
        if self.former_image is not None and self.former_version is not None:
            images[_plain(self.former_version)] = self.former_image
        commands = []
        if now["stored"] != to["stored"]:
            image = images.get(str(to["stored"]))
            if image is None:
                return ()
            version = str(to["stored"])
            holds = "0*" + r"\.0*".join(version.split("."))
            words = (self.tool, self.pci_address, image, self.psid, holds, version)
            commands.append(Command(argv=("sh", "-c", BURN, "sh", *words)))
        if now.get("running") != to.get("running"):
            reset = (RESETS[self.tool], "-d", self.pci_address, "-y", "reset")
            commands.append(Command(argv=reset))
        return tuple(commands)


def _plain(version: str) -> str:
    """Without leading zeros, which some versions of the tool print and others do not."""
    return ".".join(map(str, as_numbers(version)))
