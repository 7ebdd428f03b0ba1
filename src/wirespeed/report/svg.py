"""Scalable drawings as text: an element builder that escapes, and the scales of an axis."""

from collections.abc import Mapping
from math import ceil, floor, log10

from markupsafe import Markup, escape

from wirespeed.model.shown import shown


def element(name: str, attributes: Mapping[str, str | float], *children: str | Markup) -> Markup:
    """One element. Attribute values and plain-string children are made harmless; Markup is kept."""
    written = Markup("").join(
        Markup(' {}="{}"').format(key, _number(value)) for key, value in attributes.items()
    )
    inner = Markup("").join(
        child if isinstance(child, Markup) else escape(shown(child)) for child in children
    )
    return Markup("<{0}{1}>{2}</{0}>").format(name, written, inner)


def _number(value: str | float) -> str:
    return shown(value) if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")


def label(x: float, y: float, text: str, css: str, turned: float = 0) -> Markup:
    """Text at a point; its anchor and font come from the class."""
    attributes: dict[str, str | float] = {"x": x, "y": y, "class": css}
    if turned:
        attributes["transform"] = f"rotate({turned:g} {x:.2f} {y:.2f})"
    return element("text", attributes, text)


def line(x1: float, y1: float, x2: float, y2: float, css: str) -> Markup:
    """Draw a straight line."""
    return element("line", {"x1": x1, "y1": y1, "x2": x2, "y2": y2, "class": css})


def figure(width: float, height: float, name: str, *children: Markup) -> Markup:
    """Close a drawing that scales with its box; `name` is read out in its stead."""
    return element(
        "svg",
        {
            "viewBox": f"0 0 {width:g} {height:g}",
            "role": "img",
            "aria-label": name,
            "class": "chart",
            "style": f"--width:{width:g}px",
        },
        *children,
    )


def linear_ticks(low: float, high: float, wanted: int) -> tuple[float, ...]:
    """Round values that cover `low` to `high`: steps of 1, 2 or 5 times a power of ten."""
    if not high > low:
        high = low + (abs(low) or 1)
    rough = (high - low) / wanted
    power = 10.0 ** floor(log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * 0.999)
    first, last = floor(low / step + 1e-9), ceil(high / step - 1e-9)
    return tuple(i * step for i in range(first, last + 1))


def decades(low: float, high: float) -> tuple[float, ...]:
    """Powers of ten from below `low` to above `high`, at least one decade. Both above zero."""
    first, last = floor(log10(low)), ceil(log10(high))
    return tuple(10.0**p for p in range(first, max(last, first + 1) + 1))


def tick_text(value: float) -> str:
    """Write a tick's value without trailing zeros."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
