"""Rules of style that no linter in use has, as pure functions over a file's path and text.

Each gives (line, what was found) for every breach; its docstring is the rule, and is printed with
the breach. What ruff, mypy and import-linter check is not repeated here.
"""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from wirespeed.model.error import USUAL_NEXT, WirespeedError

Breaches = Iterator[tuple[int, str]]
Rule = Callable[[PurePosixPath, str], Breaches]

MAX_LINES = {".py": 400, ".c": 600, ".h": 200, ".sh": 100}
MAX_TEST_LINES = {**MAX_LINES, ".py": 600}
"""Cases are many and alike."""
LONGER: dict[str, tuple[int, str]] = {
    "src/wirespeed/model/trial.py": (500, "a list of types, each with its fields' documentation"),
}
"""Path: its own limit, and why it has one."""
MAX_COLUMNS = 100
TAB = 8

MENDED_ELSEWHERE = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
ISSUE = re.compile(r"#\d+")

FILE_NAMES = re.compile(r"^(utils?|helpers?|common|misc|base|manager|stuff)$|manager")

MACHINE_PATH = re.compile(r"(?<![\w.$}~])/(work|root|home|Users)/(?!me/)\w")
REGISTRY = re.compile(r"(?:index-url|find-links|trusted-host|_INDEX_URL|GOPROXY)\b")

SILENCED = re.compile(r"noqa:[^#]*\b(BLE001|E722|S110|S112|S602|S604|S605)\b")
SUPPRESSED = re.compile(r"suppress\([^)]*\b(Base)?Exception\b")

PRINTS = re.compile(r"\bclick\.(?:echo|secho|confirm|prompt|pause|echo_via_pager)\(")

WORDS = {
    "mbps": "bits or bytes? Write load_bps_l1, load_gbps_l2: unit, then layer",
    "slave": "write secondary, port or worker: the kernel itself changed",
    "iface": "write netdev, port or device: they are different things",
    "nic": "write port, card or pci_address: they are different things",
}
"""Never a part of a name in Python or C: DESIGN, section 7."""
PRIVATE_NAMES = {
    "hands": "control",
    "hand": "control",
    "errand": "request",
    "crowd": "batch",
    "Told": "Captured, or what it is",
    "Boots": "Rebootable",
    "Takeable": "Lockable",
    "PutBack": "Rollback",
    "put_back": "roll_back",
    "give_back": "unlock",
    "carry_out": "apply",
    "take_back": "undo",
    "telling": "log_progress",
    "untold": "undetermined",
    "way_to": "route_to",
}
"""Never a whole name in the package: the field has a word for it."""
NAMED_BY_OTHERS = {
    ("src/wirespeed/measure/network/lease.py", "give_back"): "a change is lent for a while",
    ("src/wirespeed/host/kept_links.py", "put_back"): "a link's MTU and flags, as they were",
    ("src/wirespeed/measure/search/bracket.py", "take_back"): "a load that passed, and fails later",
}
"""Where such a name means something else, and what."""
WHOLE_NAMES = {
    "rate": "whose? Write intended_load, offered_load or forwarding_rate, with its unit",
    "speed": "write line_rate_pps, core_hz or link_bps: unit last",
    "frame_size": "write frame_bytes, mbuf_bytes or wire_bytes: with FCS, without, on the wire",
    "packet_size": "write frame_bytes, mbuf_bytes or wire_bytes: with FCS, without, on the wire",
    "bandwidth": "write load_bps_l1 or load_bps_l2",
    "target_rate": "write intended_load_pps",
    "target_port": "the device under test is the dut",
}
"""Never a whole name of a Python variable, argument or field."""
ALLOWED_NAMES = {
    "link_mbps": "DPDK's own unit for a link (struct rte_eth_link), in the protocol as in DPDK",
}

RIDDLES = re.compile(
    r"\b(we|our|nobody|somebody|someone|whoever|anew|afresh|mend(?:s|ed|ing)?|dear(?:er|est)?|"
    r"be had|errands?|crowd|put back|let go|in (?:the|its) midst|steps stand|"
    r"stands? (?:there|already|twice))\b|"
    r"(?<!there )\b(?:is|are) no (?!(?:longer|more than|such)\b|,)",
    re.IGNORECASE,
)
NO_RIDDLES = {"src/wirespeed/doctor/anonymous.py": "`nobody` is the name of a user"}
"""Files in which such a word is another's, and whose."""

ERRORS = {
    kind.__name__
    for kind in (WirespeedError, *WirespeedError.__subclasses__())
    if kind.__module__ == WirespeedError.__module__
}
"""Of model/error.py; one that is made of a trial (BeyondTesterError) has its `next` inside."""


def file_is_short(path: PurePosixPath, text: str) -> Breaches:
    """Let a file hold one idea: cut it, or list it in LONGER with a reason."""
    usual = MAX_TEST_LINES if path.parts[0] == "tests" else MAX_LINES
    limit, _ = LONGER.get(str(path), (usual.get(path.suffix, 10**9), ""))
    lines = text.count("\n")
    if lines > limit:
        yield lines, f"{lines} lines, at most {limit}"


def line_is_short(path: PurePosixPath, text: str) -> Breaches:
    """Keep C, meson and shell within 100 columns, a tab being 8 (ruff has Python)."""
    if path.suffix in (".c", ".h", ".sh") or path.name in ("meson.build", "Makefile"):
        for number, line in _lines(text):
            columns = len(line.expandtabs(TAB))
            if columns > MAX_COLUMNS:
                yield number, f"{columns} columns, at most {MAX_COLUMNS}"


def c_is_indented_by_tabs(path: PurePosixPath, text: str) -> Breaches:
    """Indent C by tabs of 8, and leave nothing at the end of a line."""
    if path.suffix in (".c", ".h"):
        for number, line in _lines(text):
            if line.startswith(" " * TAB):
                yield number, "eight spaces where a tab belongs"
            elif line != line.rstrip():
                yield number, "white space at the end of the line"


def c_names_its_licence(path: PurePosixPath, text: str) -> Breaches:
    """Start every C file with its SPDX line; this code links DPDK and has DPDK's licence."""
    if path.suffix in (".c", ".h") and not text.startswith(
        "/* SPDX-License-Identifier: BSD-3-Clause */\n"
    ):
        yield 1, "no `/* SPDX-License-Identifier: BSD-3-Clause */` in the first line"


def c_function_carries_its_file(path: PurePosixPath, text: str) -> Breaches:
    """Name a C function that others can call after its file: `pace_due()` is in pace.h."""
    if path.suffix != ".c" or path.parent.name != "tester" or path.stem == "main":
        return
    # Where the hot files are compiled once per instruction set: JOIN(tx_build_, BUILD_FOR)(…).
    text = re.sub(r"\bJOIN\((\w+), BUILD_FOR\)", r"\1BUILD_FOR", text)
    for match in re.finditer(
        r"^(?!static\b|typedef\b)\w[\w \t*]*?\b(\w+)\([^;{]*\)\n\{", text, re.M
    ):
        if not match[1].startswith(path.stem.split("_")[0] + "_"):
            yield text.count("\n", 0, match.start()) + 1, f"{match[1]}() in {path.name}"


def later_has_an_issue(path: PurePosixPath, text: str) -> Breaches:  # noqa: ARG001
    """Give what is put off an issue's number, `#12`, or do it now."""
    for number, line in _lines(text):
        if MENDED_ELSEWHERE.search(line) and not ISSUE.search(line):
            yield number, line.strip()


def file_is_named_for_what_it_holds(path: PurePosixPath, text: str) -> Breaches:  # noqa: ARG001
    """Name a file for what is in it: utils, helpers, common and managers gather everything."""
    if FILE_NAMES.search(path.stem):
        yield 1, path.name


def no_machine_path(path: PurePosixPath, text: str) -> Breaches:  # noqa: ARG001
    """Name no folder of one machine: it is not there on the next."""
    for number, line in _lines(text):
        if match := MACHINE_PATH.search(line):
            yield number, match[0]


def no_registry(path: PurePosixPath, text: str) -> Breaches:  # noqa: ARG001
    """Leave it to each machine where its packages come from."""
    for number, line in _lines(text):
        if match := REGISTRY.search(line):
            yield number, match[0]


def no_fault_is_silenced(path: PurePosixPath, text: str) -> Breaches:
    """Let no error vanish: catch what is expected, by its type, and say what follows."""
    if path.suffix == ".py":
        for number, line in _lines(text):
            if match := SILENCED.search(line) or SUPPRESSED.search(line):
                yield number, match[0]


def names_are_the_terms(path: PurePosixPath, text: str) -> Breaches:
    """Use the one word that stands for one thing: DESIGN, section 7."""
    if path.parts[0] not in ("src", "tester", "tools"):
        return
    if path.suffix == ".py":
        bound = bound_names(text)
    elif path.suffix in (".c", ".h"):
        bound = _c_names(text)
    else:
        return
    for number, name in bound:
        if name in ALLOWED_NAMES:
            continue
        if path.suffix == ".py" and name.strip("_").lower() in WHOLE_NAMES:
            yield number, f"{name}: {WHOLE_NAMES[name.strip('_').lower()]}"
        for word in name.lower().split("_"):
            if word in WORDS:
                yield number, f"{name}: {WORDS[word]}"


def names_are_not_private(path: PurePosixPath, text: str) -> Breaches:
    """Name a thing by the field's word, not by one that only this code knows."""
    if path.parts[:2] == ("src", "wirespeed") and path.suffix == ".py":
        for number, name in bound_names(text):
            plain = name.strip("_")
            if plain in PRIVATE_NAMES and (str(path), plain) not in NAMED_BY_OTHERS:
                yield number, f"{name}: write {PRIVATE_NAMES[plain]}"


def text_leaves_by_echo(path: PurePosixPath, text: str) -> Breaches:
    """Print by `wirespeed.terminal`: it takes out what steers a terminal."""
    if path.parts[:2] == ("src", "wirespeed") and path.name != "terminal.py":
        for number, line in _lines(text):
            if match := PRINTS.search(line):
                yield number, match[0]


def words_are_the_fields(path: PurePosixPath, text: str) -> Breaches:
    """Say who does what, in the field's words: CONTRIBUTING has the rules of language."""
    if path.suffix == ".md" and (path.parts[0] == "docs" or path.name == "README.md"):
        for number, line in _lines(text):
            if match := RIDDLES.search(line):
                yield number, match[0]
    if path.parts[:2] != ("src", "wirespeed") or path.suffix != ".py" or str(path) in NO_RIDDLES:
        return
    tree = ast.parse(text)
    # Docstrings, and what stands below a field.
    described = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            match = RIDDLES.search(node.value)
            if match and id(node) not in described:
                yield node.lineno, match[0]


def an_error_says_where_and_what_to_do_next(path: PurePosixPath, text: str) -> Breaches:
    """Give every error `where`, and `next`: a command or an act that helps in just that case.

    What is the same wherever it is raised is in USUAL_NEXT (model/error.py), by its slug.
    """
    if path.parts[:2] != ("src", "wirespeed") or path.suffix != ".py":
        return
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call) or getattr(node.func, "id", "") not in ERRORS:
            continue
        slug = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
        names = {one.arg for one in node.keywords}
        given = [one.value for one in node.keywords if one.arg in ("next", None)]
        is_empty = [one for one in given if isinstance(one, ast.Constant) and not one.value]
        is_placed = slug is None or names & {"where", None}
        if is_empty or not is_placed or not (given or slug in USUAL_NEXT):
            yield node.lineno, ast.unparse(node.args[0]) if node.args else "an error"


RULES: tuple[Rule, ...] = (
    file_is_short,
    line_is_short,
    c_is_indented_by_tabs,
    c_names_its_licence,
    c_function_carries_its_file,
    later_has_an_issue,
    file_is_named_for_what_it_holds,
    no_machine_path,
    no_registry,
    no_fault_is_silenced,
    names_are_the_terms,
    names_are_not_private,
    text_leaves_by_echo,
    words_are_the_fields,
    an_error_says_where_and_what_to_do_next,
)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    return enumerate(text.split("\n"), 1)


def bound_names(text: str) -> Iterator[tuple[int, str]]:
    """Every name that the Python source gives to something of its own."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.attr
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.lineno, node.name


def _c_names(text: str) -> Iterator[tuple[int, str]]:
    """Every identifier that stands outside comments and strings."""

    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match[0])

    code = re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"', blank, text, flags=re.S)
    for match in re.finditer(r"\b[A-Za-z_]\w*\b", code):
        yield code.count("\n", 0, match.start()) + 1, match[0]
