"""Texts for a reader's test: ten rules, ten errors, five help pages and three docs pages at random.

Usage: python tools/reading_sample.py SEED [rules|errors|help|docs]   (in the repository's folder)

The same seed gives the same sample while the files are the same. Read each once; what needs a
second reading is rewritten.
"""

import ast
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

SRC = Path("src/wirespeed")
ERRORS = ("InputError", "MeasurementError")
PARTS = {"rules": 10, "errors": 10, "help": 5, "docs": 3}


def text_of(node: ast.expr) -> str:
    """Give the source of an expression, strings that stand side by side as one."""
    return " ".join(ast.unparse(node).split())


def rules() -> list[str]:
    """Give every rule: each string of its file that is passed by a name, in order."""
    files = sorted([*SRC.glob("rules/*.py"), *SRC.glob("platforms/*/rules/*.py")])
    texts = []
    for file in files:
        if file.name == "__init__.py":
            continue
        tree = ast.parse(file.read_text(encoding="utf-8"))
        said = [
            f"  {word.arg}: {text_of(word.value)}"
            for call in ast.walk(tree)
            if isinstance(call, ast.Call)
            for word in call.keywords
            if word.arg in {"title", "why", "so", "text", "unpriced", "found"}
        ]
        texts.append("\n".join([str(file), *said]))
    return texts


def errors() -> list[str]:
    """Give every error that the source raises, with what it finds, what follows, what is next."""
    texts = []
    for file in sorted(SRC.rglob("*.py")):
        for call in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") in ERRORS:
                words = [f"  {word.arg}: {text_of(word.value)}" for word in call.keywords]
                slug = text_of(call.args[0]) if call.args else "?"
                texts.append("\n".join([f"{file}:{call.lineno} {slug}", *words]))
    return texts


def commands(path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Give every command and subcommand, by what their help lists."""
    yield path
    lines = help_of(path).splitlines()
    if "Commands:" in lines:
        for line in lines[lines.index("Commands:") + 1 :]:
            if line.startswith("  ") and not line.startswith("   "):
                yield from commands((*path, line.split()[0]))


def help_of(path: tuple[str, ...]) -> str:
    """Give one help page as a person sees it."""
    program = [".venv/bin/wirespeed", *path, "--help"]
    return subprocess.run(program, capture_output=True, text=True, check=True, timeout=60).stdout


def texts_of(part: str) -> list[str]:
    """Give all texts of a part, in an order that depends on the files alone."""
    if part == "rules":
        return rules()
    if part == "errors":
        return errors()
    if part == "docs":
        return [str(page) for page in [Path("README.md"), *sorted(Path("docs").glob("*.md"))]]
    return [f"$ wirespeed {' '.join(path)} --help\n{help_of(path)}" for path in commands()]


def main() -> None:
    """Print the sample of each part."""
    seed, only = int(sys.argv[1]), sys.argv[2:] or list(PARTS)
    for part in only:
        texts = texts_of(part)
        sample = random.Random(f"{seed} {part}").sample(texts, PARTS[part])  # noqa: S311
        print(f"=== {part}: {len(sample)} of {len(texts)}, seed {seed}\n")
        print("\n\n".join(sample), end="\n\n")


main()
