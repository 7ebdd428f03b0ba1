"""A grammar of PowerShell, with what it lets pass and PowerShell does not."""

import tree_sitter_powershell
from tree_sitter import Language, Node, Parser

PARSER = Parser(Language(tree_sitter_powershell.language()))


def mistakes(script: str) -> list[str]:
    """What PowerShell would not read, each with its line."""
    return [
        f"line {node.start_point[0] + 1}: {(node.text or b'').decode()[:40]}"
        for node in _nodes(PARSER.parse(script.encode()).root_node)
        if node.is_error or node.is_missing or _is_try_alone(node)
    ]


def _is_try_alone(node: Node) -> bool:
    """Tell whether it is a `try` with neither `catch` nor `finally`: the grammar takes it."""
    kinds = {child.type for child in node.children}
    return node.type == "try_statement" and not kinds & {"catch_clauses", "finally_clause"}


def _nodes(root: Node) -> list[Node]:
    found = [root]
    for child in root.children:
        found += _nodes(child)
    return found
