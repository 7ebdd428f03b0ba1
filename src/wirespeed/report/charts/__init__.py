"""The figures of a page, each an SVG that prints, scales and shows its numbers.

Every mark carries a `<title>`, which a browser shows on hovering, and a visible label or a table
beside it, so that paper tells as much. Colours come from the page's style sheet (`s0` to `s5`).
"""
