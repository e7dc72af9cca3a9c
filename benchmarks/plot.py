"""A plot of times by number of articles, as SVG for light and dark pages."""

from collections.abc import Mapping, Sequence
from math import ceil, floor, log10

LEFT, RIGHT, TOP, BOTTOM = 64, 560, 16, 392  # of the plot's grid
STYLE = """<style>
text { font: 13px system-ui, sans-serif; fill: #333 }
line { stroke: #ddd }
g { stroke: currentColor; stroke-width: 2 }
g text, circle { fill: currentColor; stroke: none }
polyline { fill: none }
#line0 { color: #19754a } #line1 { color: #2363c4 } #line2 { color: #b34a00 } #line3 { color: #7b3fc4 }
@media (prefers-color-scheme: dark) {
  text { fill: #ccc } line { stroke: #444 }
  #line0 { color: #5fcf98 } #line1 { color: #80b1ff } #line2 { color: #ffa25a } #line3 { color: #c8a2ff }
}
</style>"""


def show(seconds: float) -> str:
    """Return a time with two significant digits, such as "0.35 ms"."""
    value, unit = (seconds, "s") if seconds >= 1 else (seconds * 1000, "ms")
    return f"{float(f'{value:.2g}'):g} {unit}"


def plot(names: Sequence[str], rows: Mapping[int, Sequence[float]]) -> str:
    """Return a log-log plot as SVG, with one line per name. `rows` maps a number of articles to one time per name."""
    times = [seconds for row in rows.values() for seconds in row]
    low, high = floor(log10(min(times))), ceil(log10(max(times)))

    def x(count: int) -> int:
        return round(LEFT + (RIGHT - LEFT) * log10(count / min(rows)) / log10(max(rows) / min(rows)))

    def y(seconds: float) -> int:
        return round(TOP + (BOTTOM - TOP) * (high - log10(seconds)) / (high - low))

    svg = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 440">', STYLE]
    for time_shown in (10.0**decade for decade in range(low, high + 1)):
        svg.append(f'<line x1="{LEFT}" x2="{RIGHT}" y1="{y(time_shown)}" y2="{y(time_shown)}"/>')
        svg.append(f'<text x="{LEFT - 8}" y="{y(time_shown) + 4}" text-anchor="end">{show(time_shown)}</text>')
    svg += [f'<text x="{x(count)}" y="{BOTTOM + 22}" text-anchor="middle">{count:,}</text>' for count in rows]
    svg.append(f'<text x="{(LEFT + RIGHT) // 2}" y="{BOTTOM + 42}" text-anchor="middle">articles</text>')
    baseline = BOTTOM + 20
    for number, name in sorted(enumerate(names), key=lambda item: rows[max(rows)][item[0]]):
        points = [(x(count), y(row[number])) for count, row in rows.items()]
        baseline = min(baseline - 16, points[-1][1] + 4)  # labels must not overlap
        svg.append(f'<g id="line{number}"><polyline points="{" ".join(f"{left},{top}" for left, top in points)}"/>')
        svg += [f'<circle cx="{left}" cy="{top}" r="4"/>' for left, top in points]
        svg.append(f'<text x="{RIGHT + 12}" y="{baseline}">{name}</text></g>')
    return "\n".join([*svg, "</svg>\n"])
