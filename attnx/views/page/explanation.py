"""An explanation as a page of its own: units coloured by every method, one below the other."""

from __future__ import annotations

from jinja2 import Environment

from ...results.explanation import Explanation, shares
from ...results.formatting import format_number

_STYLE = """
.attnx{font:1rem/1.7 system-ui,sans-serif;max-width:60rem;color-scheme:light dark}
.attnx .units span{padding:.1em .15em;border-radius:.2em;color:#111}
.attnx .units{background:#fff;padding:.5rem;border-radius:.3rem}
.attnx table{border-collapse:collapse}.attnx th,.attnx td{text-align:left;padding:.1rem 1rem .1rem 0}
.attnx h2{font-size:1rem;margin:1rem 0 .2rem}
"""

_FRAGMENT = """<div class="attnx"><style>{{ style }}</style>
<p>{{ it.title }}{% if it.id %}, example {{ it.id }}{% endif %}, seed {{ it.seed }}</p>
{% if it.query %}<p>query: {{ it.query | join(" ") }}</p>{% endif %}
<p>predicted <strong>{{ it.predicted }}</strong>{% if it.label %}, labelled {{ it.label }}{% endif %}:
{% for name, p in it.probabilities.items() %}{{ name }} {{ number(p) }}{% if not loop.last %}, {% endif %}
{% endfor %}</p>
{% if it.unknown %}<p>unknown to the model, never in train: {{ it.unknown | join(", ") }}</p>{% endif %}
{% for method, units in rows %}<h2>{{ method }}</h2><div class="units">
{% for unit, score, colour in units %}
<span style="background:{{ colour }}" title="{{ number(score) }}">{{ unit }}</span>
{% endfor %}</div>
{% endfor %}
{% if it.left_out %}<h2>left out, one at a time</h2><table><thead><tr><th>unit</th>
<th>p({{ it.predicted }})</th><th>change</th><th>top of</th></tr></thead><tbody>
{% for out in it.left_out %}<tr><td>{{ it.named(out) }}</td><td>{{ number(out.probability) }}</td>
<td>{{ number(out.change) }}</td><td>{{ out.top_of | join(", ") }}</td></tr>
{% endfor %}</tbody></table>{% endif %}
<p><small>Blue is a positive score, orange a negative one, the strongest of each method darkest.</small></p>
</div>"""

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{{ it.title }}</title></head><body>{{ fragment }}</body></html>
"""

_environment = Environment(autoescape=True, trim_blocks=True)


def fragment(explanation: Explanation) -> str:
    """The part of a page that shows one explanation."""
    rows = [
        (method, list(zip(explanation.units, scores, map(colour, shares(scores)), strict=True)))
        for method, scores in explanation.scores.items()
    ]
    template = _environment.from_string(_FRAGMENT)
    return template.render(it=explanation, rows=rows, number=format_number, style=_STYLE)


def page(explanation: Explanation) -> str:
    """A page that needs nothing else."""
    from markupsafe import Markup

    return _environment.from_string(_PAGE).render(it=explanation, fragment=Markup(fragment(explanation)))


def colour(share: float) -> str:
    """White for nothing, blue for positive, orange for negative: told apart by the colour-blind too."""
    red, green, blue = (86, 180, 233) if share >= 0 else (230, 159, 0)
    strength = min(1.0, abs(share))
    mixed = (round(255 + (part - 255) * strength) for part in (red, green, blue))
    return "#{:02x}{:02x}{:02x}".format(*mixed)
