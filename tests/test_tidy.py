"""The tree keeps the rules in tidy_rules.py, and each rule fails on a tiny case that breaks it."""

import inspect
import re
from pathlib import Path, PurePosixPath

import pytest

import tidy_rules as rules
from tidy_rules import RULES, Rule

ROOT = Path(__file__).parent.parent
FOLDERS = ("src", "tester", "tests", "tools", "scripts", "docs", ".ci")
TEXT = {".py", ".c", ".h", ".sh", ".md", ".toml", ".json", ".j2", ".build", ".csv", ""}
SELF = {"tests/tidy_rules.py", "tests/test_tidy.py"}
"""They spell out what they forbid."""

PURE = {
    f"platforms/{name}/{part}": f"tests/{part}: they share its cases, samples and helpers"
    for name in ("esxi", "switch", "windows", "wsl")
    for part in ("facts", "rules", "steps")
    if (name, part) != ("wsl", "facts")
}
UNMIRRORED = {
    **PURE,
    "platforms/linux": "its facts, rules and steps are the shared ones",
    "report/charts": "drawn by tests/report: a chart is tested on the page that it is in",
    "report/tables": "tests/report: a table is tested on the page that it is in",
}
"""Packages without a folder of their own under tests, and where they are tested."""

SPDX = "/* SPDX-License-Identifier: BSD-3-Clause */\n"
CASES: list[tuple[Rule, str, str, str]] = [
    (rules.file_is_short, "src/a.py", "x = 1\n" * 401, "x = 1\n" * 400),
    (rules.file_is_short, "tests/test_a.py", "x = 1\n" * 601, "x = 1\n" * 600),
    (rules.file_is_short, "tester/a.c", "\n" * 601, "\n" * 600),
    (rules.line_is_short, "tester/a.c", "\t" * 12 + "12345\n", "\t" * 12 + "1234\n"),
    (rules.line_is_short, "scripts/a.sh", "x" * 101, "x" * 100),
    (rules.c_is_indented_by_tabs, "tester/a.c", "        x;\n", "\tx;\n"),
    (rules.c_is_indented_by_tabs, "tester/a.c", "\tx; \n", "\tx;\n"),
    (rules.c_names_its_licence, "tester/a.h", "#pragma once\n", f"{SPDX}#pragma once\n"),
    (rules.c_function_carries_its_file, "tester/a.c", "int due(void)\n{\n", "int a_due(void)\n{\n"),
    (
        rules.c_function_carries_its_file,
        "tester/a.c",
        "struct x *due(int a,\n\t int b)\n{\n",
        "static struct x *due(int a,\n\t int b)\n{\n",
    ),
    (
        rules.c_function_carries_its_file,
        "tester/a.c",
        "void JOIN(b_, BUILD_FOR)(void)\n{\n",
        "void JOIN(a_, BUILD_FOR)(void)\n{\n",
    ),
    (rules.later_has_an_issue, "src/a.py", "# TODO: later", "# TODO #12: later"),
    (rules.file_is_named_for_what_it_holds, "src/utils.py", "", ""),
    (rules.file_is_named_for_what_it_holds, "src/bed_manager.py", "", ""),
    (rules.no_machine_path, "docs/a.md", "see /home/someone/x", "see ~/x, build/home/x, /home"),
    (rules.no_registry, "scripts/a.sh", "pip --index-url x", "pip install x"),
    (rules.no_fault_is_silenced, "src/a.py", "x()  # noqa: BLE001", "x()  # noqa: S311"),
    (
        rules.no_fault_is_silenced,
        "src/a.py",
        "with suppress(OSError, Exception):",
        "with suppress(OSError):",
    ),
    (rules.names_are_the_terms, "src/a.py", "rate = 1", "forwarding_rate_pps = other.rate"),
    (rules.names_are_the_terms, "src/a.py", "def f(frame_size): ...", "def f(frame_bytes): ..."),
    (rules.names_are_the_terms, "src/a.py", "self.load_mbps = 1", "self.link_mbps = 1"),
    (rules.words_are_the_fields, "src/wirespeed/a.py", 'x = "it is no host"', 'x = "not a host"'),
    (
        rules.words_are_the_fields,
        "src/wirespeed/a.py",
        'x = "2 steps stand"',
        'x = "2 are in place"',
    ),
    (rules.words_are_the_fields, "docs/a.md", "All is put back.", "All steps are undone."),
    (
        rules.words_are_the_fields,
        "src/wirespeed/a.py",
        'x = f"{y}: nobody can tell"',
        '"""Nobody."""\nx = "there is no bond"',
    ),
    (
        rules.an_error_says_where_and_what_to_do_next,
        "src/wirespeed/a.py",
        'raise InputError("a.b", where=x, found=y)',
        'raise InputError("a.b", where=x, next="c"); raise InputError("file.unreadable", where=x)',
    ),
    (
        rules.an_error_says_where_and_what_to_do_next,
        "src/wirespeed/a.py",
        'raise InputError("a.b", found=y, next="run c")',
        'raise InputError("a.b", **told)',
    ),
    (
        rules.an_error_says_where_and_what_to_do_next,
        "src/wirespeed/a.py",
        'raise HostError(what, next="")',
        "raise HostError(what, next=error.next)",
    ),
    (
        rules.names_are_not_private,
        "src/wirespeed/a.py",
        "def _put_back(): ...",
        "back = put_back()",
    ),
    (rules.text_leaves_by_echo, "src/wirespeed/a.py", "click.echo(x)", "echo(x)"),
    (rules.names_are_the_terms, "tester/a.c", "int slave_port;", "int port; /* no slave */"),
]


def files() -> list[tuple[PurePosixPath, str]]:
    """Give every text file of ours with its path from the root."""
    # `.git` is a file in a second working tree of a clone: not ours.
    found = [path for path in ROOT.iterdir() if path.is_file() and path.name != ".git"]
    for folder in FOLDERS:
        found += [path for path in (ROOT / folder).rglob("*") if path.is_file()]
    return [
        (PurePosixPath(path.relative_to(ROOT).as_posix()), path.read_text())
        for path in sorted(found)
        if path.suffix in TEXT and "__pycache__" not in path.parts
    ]


def breaches(rule: Rule) -> list[str]:
    return [
        f"{path}:{line}: {found}"
        for path, text in files()
        if str(path) not in SELF
        for line, found in rule(path, text)
    ]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_tree_keeps(rule: Rule) -> None:
    found = breaches(rule)
    assert not found, "\n".join([inspect.getdoc(rule) or "", *found])


@pytest.mark.parametrize(("rule", "path", "bad", "good"), CASES)
def test_a_rule_fails_on_what_breaks_it(rule: Rule, path: str, bad: str, good: str) -> None:
    assert len(list(rule(PurePosixPath(path), bad))) == 1
    if bad != good:
        assert not list(rule(PurePosixPath(path), good))


def test_every_rule_has_a_case() -> None:
    assert {case[0] for case in CASES} == set(RULES)


def test_a_name_that_is_allowed_is_there():
    """So that no exception outlives its reason."""
    found = {
        (str(path), name.strip("_"))
        for path, text in files()
        if str(path) in {at for at, _ in rules.NAMED_BY_OTHERS}
        for _, name in rules.bound_names(text)
    }
    assert set(rules.NAMED_BY_OTHERS) <= found


@pytest.mark.parametrize("path", rules.LONGER)
def test_a_file_with_a_limit_of_its_own_needs_it(path: str) -> None:
    usual = rules.MAX_LINES[PurePosixPath(path).suffix]
    lines = (ROOT / path).read_text().count("\n")
    assert lines > usual, f"{path} has {lines} lines: take it out of LONGER"


def test_every_package_is_mirrored_under_tests() -> None:
    source = ROOT / "src/wirespeed"
    packages = {p.parent.relative_to(source).as_posix() for p in source.rglob("__init__.py")}
    mirrored = {p for p in packages if (ROOT / "tests" / p).is_dir()}
    assert packages - {"."} - mirrored == set(UNMIRRORED)


def headings(text: str) -> set[str]:
    """Give the anchors that a Markdown file offers, as GitHub makes them."""
    found = re.findall(r"^#+ +(.+?) *$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.M)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in found}


def broken_links(page: Path, text: str) -> list[str]:
    """Give every link to a file or a heading that is not there."""
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        linked = page.parent / name if name else page
        if not linked.exists() or (anchor and anchor not in headings(linked.read_text())):
            broken.append(link)
    return broken


def test_links_between_documents_resolve() -> None:
    broken = {str(p): broken_links(ROOT / p, text) for p, text in files() if p.suffix == ".md"}
    assert not {path: links for path, links in broken.items() if links}


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    text = "# A heading\n[a](missing.md) [b](#a-heading) [c](#other) [d](https://example.org)\n"
    page = tmp_path / "page.md"
    page.write_text(text)
    assert broken_links(page, text) == ["missing.md", "#other"]


def test_no_two_test_files_are_imported_by_one_name() -> None:
    modules = [
        path
        for path in (ROOT / "tests").rglob("*.py")
        if not (path.parent / "__init__.py").exists() and path.name != "conftest.py"
    ]
    named: dict[str, list[str]] = {}
    for path in modules:
        named.setdefault(path.name, []).append(str(path.relative_to(ROOT)))
    # pytest would refuse the second: folders of tests are no packages.
    assert [paths for paths in named.values() if len(paths) > 1] == []
