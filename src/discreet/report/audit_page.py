"""An audit as one HTML page that needs nothing else: no script, no font, no picture from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.report.audit_plots import scores_plot, trade_off_plot

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; } h3 { font-size: 1rem; margin: 1.6rem 0 .3rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; margin: .5rem 0 1rem; }
th, td { text-align: left; padding: .25rem .6rem .25rem 0; border-bottom: 1px solid #ddd; vertical-align: top; }
td.number, th.number { text-align: right; }
.good { color: #1d6b2f; font-weight: 600; } .bad { color: #a11c1c; font-weight: 600; }
.plots { display: flex; flex-wrap: wrap; gap: 1rem; } .plots svg { max-width: 100%; height: auto; }
p.note { color: #555; max-width: 46rem; }
"""

_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{{ title }}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>{{ style }}</style></head><body>
<h1>{{ title }}</h1>
<p class="{{ 'good' if report.passed else 'bad' }}">{{ headline }}</p>
<p class="note">Each model is fitted on two data sets that differ in one person. <b>Replay</b> searches the pair that
differs most behind the noise and compares what it loses with what is claimed; above 1 is a leak. The <b>black box</b>
fits many times on both at a large epsilon and guesses which data set an output came from; its mu is a lower bound that
holds with confidence {{ "%.6g"|format(report.confidence) }}. All tests together blame an honest model at most
once in {{ rarely }} runs of this suite.</p>
{% for kind, findings in groups %}
<h2>{{ kind }}</h2>
<table><thead><tr><th>model</th><th class="number">claimed mu</th><th class="number">replay, of claim</th>
<th class="number">black box mu, at least</th><th>verdict</th><th>what was seen</th></tr></thead><tbody>
{% for f in findings %}<tr><td>{{ f.name }}</td>
<td class="number">{{ "%.4g"|format(f.replay.claimed_mu) if f.replay else "" }}</td>
<td class="number">{{ "%.4f"|format(f.replay.efficiency) if f.replay else "" }}</td>
<td class="number">{{ "%.2f of %.3g"|format(f.black_box.mu, f.black_box.claimed_mu) if f.black_box else "" }}</td>
<td class="{{ 'good' if f.as_expected else 'bad' }}">{{ f.verdict }}</td>
<td>{{ seen(f) }}</td></tr>
{% endfor %}</tbody></table>
{% endfor %}
{% if curves %}<h2>Tracing attacks</h2>
<p class="note">Members' and outsiders' scores of attacks by someone who knows the true model. The dashed line is the
most that the guarantee allows.</p><div class="plots">{% for caption, svg in curves %}<figure>{{ svg|safe }}
<figcaption>{{ caption }}</figcaption></figure>{% endfor %}</div>{% endif %}
<h2>In detail</h2>
{% for f in detailed %}<h3>{{ f.name }}</h3>
{% if f.replay %}<table><thead><tr><th>release</th><th class="number">reach</th><th class="number">noise std</th>
<th class="number">mu</th><th class="number">lost</th><th class="number">of its cost</th></tr></thead><tbody>
{% for r in f.replay.releases %}<tr><td>{{ r.label }}</td><td class="number">{{ "%.4g"|format(r.reach) }}</td>
<td class="number">{{ "%.4g"|format(r.noise_std) }}</td><td class="number">{{ "%.4g"|format(r.mu) }}</td>
<td class="number">{{ "%.4g"|format(r.lost) }}</td><td class="number">{{ "%.4f"|format(r.efficiency) }}</td></tr>
{% endfor %}</tbody></table>
<p class="note">Worst of {{ f.replay.candidates }} candidate rows.</p>{% endif %}
{% if f.black_box %}{% set box = f.black_box %}<p>Claimed epsilon {{ "%.4g"|format(box.claimed_epsilon) }} at delta
{{ "%.3g"|format(box.delta) }}. {{ box.false_alarms }} false alarms and {{ box.misses }} misses in {{ box.runs }} fits
on each side ({{ box.guess }}): at least mu {{ "%.3g"|format(box.mu) }}, epsilon {{ "%.3g"|format(box.epsilon) }}.</p>
<div class="plots">{{ scores(f.black_box)|safe }}{{ trade_off(f.black_box)|safe }}</div>{% endif %}
{% endfor %}
<p class="note">discreet {{ version }}{% if command %}, <code>{{ command }}</code>{% endif %}</p>
</body></html>
"""


def audit_page(
    report: Mapping[str, Any],
    *,
    title: str = "Privacy audit",
    version: str = "",
    command: str = "",
    curves: Sequence[tuple[str, str]] = (),
) -> str:
    """The page of an audit's plain facts (``Suite.to_dict``); ``curves`` are captions with ready SVG."""
    from jinja2 import Environment

    findings = list(report["findings"])
    kinds = list(dict.fromkeys(finding["kind"] for finding in findings))
    groups = [(kind, [finding for finding in findings if finding["kind"] == kind]) for kind in kinds]
    template = Environment(autoescape=True).from_string(_PAGE)
    return template.render(
        report=report,
        title=title,
        style=_STYLE,
        version=version,
        command=command,
        curves=curves,
        groups=groups,
        detailed=[finding for finding in findings if finding["expected"] or not finding["as_expected"]],
        headline=_headline(findings),
        rarely=f"{1 / max(report['false_alarm_rate'], 1e-12):,.0f}",
        seen=_seen,
        scores=lambda box: scores_plot(box["first_scores"], box["second_scores"]),
        trade_off=lambda box: trade_off_plot(box["first_scores"], box["second_scores"], box["claimed_mu"]),
    )


def _headline(findings: Sequence[Mapping[str, Any]]) -> str:
    honest = [finding for finding in findings if finding["expected"]]
    blamed = sum(not finding["as_expected"] for finding in honest)
    said = [f"{blamed} of {len(honest)} claims are false." if blamed else f"No claim of {len(honest)} was refuted."]
    planted = len(findings) - len(honest)
    if planted:
        caught = sum(finding["as_expected"] for finding in findings if not finding["expected"])
        said.append(f"{caught} of {planted} models that are broken on purpose were caught.")
    return " ".join(said)


def _seen(finding: Mapping[str, Any]) -> str:
    """The reason in a few words."""
    if finding["note"]:
        return str(finding["note"])
    replay, box = finding["replay"], finding["black_box"]
    if replay and replay["problems"]:
        return str(replay["problems"][0])
    if box and box["caught"]:
        return f"told apart by: {box['guess']}"
    return ""
