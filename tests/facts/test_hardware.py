"""The machine: DMI's files as the kernel has them, dmidecode's and lspci's own words."""

from wirespeed.facts.hardware import Card, Hardware, MemoryModule
from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import Absent, Known, Unreadable

DMI = "/sys/class/dmi/id"
SAMSUNG = """Memory Device
\tSize: 16 GB
\tType: DDR4
\tSpeed: 2933 MT/s
\tPart Number: M393A2K40CB2-CTD
\tConfigured Memory Speed: 2666 MT/s
"""
OLDER = """Memory Device
\tSize: 8192 MB
\tType: DDR4
\tSpeed: 2133 MHz
\tConfigured Clock Speed: Unknown
"""
EMPTY = "Memory Device\n\tSize: No Module Installed\n\tType: Unknown\n"
VPD = """\t\tProduct Name: CX556A - ConnectX-5 QSFP28
\t\t\t[PN] Part number: MCX556A-EDAT
"""


def hardware(*sections: Section) -> Hardware:
    return Hardware.parse(Capture(sections, complete=True))


def dmi(**of: str) -> Section:
    lines = [f"{DMI}/{name}:{value}" for name, value in of.items()]
    return Section("dmi", "", "\n".join(lines), "", 0)


def test_maker_model_board_and_bios_are_told():
    found = hardware(
        dmi(
            sys_vendor="Dell Inc.",
            product_name="PowerEdge R740",
            board_vendor="Dell Inc.",
            board_name="0JMK61",
            bios_vendor="Dell Inc.",
            bios_version="2.4.8",
            bios_date="11/26/2019",
        )
    )
    assert found.model == Known("Dell Inc. PowerEdge R740", f"cat {DMI}/product_name")
    assert found.board == Known("Dell Inc. 0JMK61", f"cat {DMI}/board_name")
    assert found.bios == Known("Dell Inc. 2.4.8, 11/26/2019", f"cat {DMI}/bios_date")


def test_a_maker_who_is_in_the_model_is_said_once_and_one_alone_is_enough():
    found = hardware(dmi(sys_vendor="HPE", product_name="HPE ProLiant DL380", bios_version="U30"))
    assert (found.model, found.bios) == (
        Known("HPE ProLiant DL380", f"cat {DMI}/product_name"),
        Known("U30", f"cat {DMI}/bios_date"),
    )
    assert isinstance(found.board, Absent)
    assert isinstance(hardware().board, Unreadable)


def test_modules_are_those_that_are_in_a_slot_at_the_speed_that_they_are_set_to():
    said = Section("memory-modules", "", SAMSUNG + EMPTY + OLDER, "", 0)
    modules = hardware(said).memory_modules
    assert isinstance(modules, Known)
    assert modules.value == (
        MemoryModule("16 GB", "DDR4", "2666 MT/s", "M393A2K40CB2-CTD"),
        MemoryModule("8192 MB", "DDR4", "2133 MHz", ""),
    )


def test_without_dmidecode_or_root_no_module_is_told_and_none_is_made_up():
    lacks = Section("memory-modules", "", "", "sh: 9: dmidecode: not found", 127)
    denied = Section("memory-modules", "", "", "/dev/mem: Permission denied", 1)
    assert all(isinstance(hardware(one).memory_modules, Unreadable) for one in (lacks, denied))


def test_a_cards_part_number_is_that_of_each_of_its_functions():
    found = hardware(Section("card-data", "0000:3b:00.0", VPD, "", 0))
    source = "lspci -vv -s 0000:3b:00.0"
    assert found.card_of("0000:3b:00.1") == Card(
        Known("MCX556A-EDAT", source), Known("CX556A - ConnectX-5 QSFP28", source)
    )
    assert found.card_of("0000:5e:00.0") is None


def test_a_card_whose_data_could_not_be_read_has_no_part_number():
    nothing = Section("card-data", "0000:3b:00.0", "", "", 1)
    other = Section("card-data", "0000:5e:00.0", "\t\tProduct Name: X710\n", "", 0)
    found = hardware(nothing, other)
    first, second = found.card_of("0000:3b:00.0"), found.card_of("0000:5e:00.0")
    assert first is not None
    assert second is not None
    assert isinstance(first.part_number, Unreadable)
    assert (isinstance(second.part_number, Absent), second.product) == (
        True,
        Known("X710", "lspci -vv -s 0000:5e:00.0"),
    )
