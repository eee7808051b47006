"""The HTML template and the style of the audit page."""

STYLE = """
:root { --good:#1d6b2f; --bad:#a11c1c; --limit:#b4500f; }
@media (prefers-color-scheme: dark) { @media screen { :root { --good:#6fcf86; --bad:#ff8a80; --limit:#f0a268; } } }
.good { color:var(--good); font-weight:600; } .bad { color:var(--bad); font-weight:600; }
.verdict.good { border-color:var(--good); } .verdict.bad { border-color:var(--bad); }
h3 { font-size:1rem; margin:1.6rem 0 .3rem; }
.share { display:block; height:8px; border-radius:4px; background:var(--line); overflow:hidden; margin:6px 0; }
.share i { display:block; height:100%; background:var(--blue); max-width:100%; }
.share i.over { background:var(--bad); }
.cards { grid-template-columns:repeat(auto-fit,minmax(200px,1fr)); }
td .share { width:90px; margin:3px 0 0 auto; }
.plots { display:flex; flex-wrap:wrap; gap:12px; } .plots figure { margin:0; max-width:100%; break-inside:avoid; }
.plots svg { max-width:100%; height:auto; display:block; }
summary { cursor:pointer; font-weight:600; margin:10px 0; } dt { font-weight:600; } dd { margin:0 0 8px; }
td.text, th.text { text-align:left; white-space:normal; min-width:6em; }
@media print { .plots { flex-wrap:nowrap; } .plots figure { width:49%; } dt, h3 { break-after:avoid; }
 dd { break-inside:avoid; } }
"""

PAGE = """<!doctype html>
{% macro bar(share) %}
<span class="share" role="img" aria-label="{{ "%.0f"|format(100 * share) }} % of what is allowed">
<i {{ 'class="over"'|safe if share > 1 + 1e-9 }} style="width:{{ "%.1f"|format([100 * share, 100]|min) }}%"></i></span>
{% endmacro %}
{% macro percent(share) %}{{ "%.1f"|format(100 * share) }} %{% endmacro %}
<html lang="en"><head><meta charset="utf-8"><title>{{ title }}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>{{ style|safe }}</style></head><body>
<h1>{{ title }}</h1>
<p class="soft">Made on {{ made }}{% if version %} by discreet {{ version }}{% endif %}</p>
<p class="verdict {{ 'good' if report.passed else 'bad' }}">{{ headline }}</p>
<div class="cards">
{% if asked %}<div class="card"><span class="label">Asked</span><b>{{ asked }}</b>
What one person may lose at most, over everything that is released.</div>{% endif %}
{% if loss %}<div class="card"><span class="label">Largest loss found</span><b>{{ percent(loss[0]) }} of what is
allowed</b>{{ bar(loss[0]) }}Over 100 % would be a leak. It is the worst of {{ loss[1].replay.candidates }} candidate
rows{% if detailed|length > 1 %}, in {{ loss[1].name }}{% endif %}.</div>{% endif %}
{% if attack %}<div class="card"><span class="label">Attack on outputs alone</span><b>at least {{ percent(attack[0]) }}
of what is allowed</b>{{ bar(attack[0]) }}A lower bound that holds with confidence
{{ "%.6g"|format(report.confidence) }}; over 100 % would be a leak.</div>{% endif %}
</div>
{% for kind, findings in groups %}
<section><h2>{{ kind }}</h2>
{% set told = any_seen(findings) %}
<div class="scroll"><table><thead><tr><th>model</th><th class="text">verdict</th><th>largest loss found</th>
<th>attack, at least</th>{% if told %}<th class="text">what was seen</th>{% endif %}</tr></thead><tbody>
{% for f in findings %}
<tr><td>{{ f.name }}</td><td class="text {{ 'good' if f.as_expected else 'bad' }}">{{ f.verdict }}</td>
<td>{% if f.replay %}{{ percent(loss_share(f)) }}{{ bar(loss_share(f)) }}{% endif %}</td>
<td>{% if f.black_box %}{{ percent(attack_share(f)) }}{{ bar(attack_share(f)) }}{% endif %}</td>
{% if told %}<td class="text">{{ seen(f) }}</td>{% endif %}</tr>
{% endfor %}
</tbody></table></div></section>
{% endfor %}
<section><h2>How to read this</h2><dl>
<dt>Two data sets that differ in one person</dt><dd>A guarantee limits how much the outputs of two such data sets may
differ. All rows are generated within the declared bounds; no private data are read, and no budget is spent.</dd>
<dt>Largest loss found</dt><dd>The audit searches the pair of data sets whose exact answers differ most, and replays the
fit on both. The loss is their distance in standard deviations of the noise (mu), over all releases together. Its share
of the allowed mu is shown. It is usually below 100 %, because no single row is the worst for all releases at once.</dd>
{% if attack %}{% set box = attack[1].black_box %}
<dt>Why the attack runs at epsilon {{ "%.3g"|format(box.claimed_epsilon) }}</dt><dd>The attack fits the model
many times on both data sets and guesses, from outputs alone, which one was used.
{% if asked %}The model was asked for {{ asked }}.{% endif %} With little budget the noise hides the difference so well
that a false claim would show only after many thousands of fits. So the attack asks the same code for a larger budget,
mu {{ "%.3g"|format(box.claimed_mu) }}, that is epsilon {{ "%.3g"|format(box.claimed_epsilon) }} at delta
{{ "%.3g"|format(box.delta) }}, and compares what it learns with that. The noise is computed from the
budget by the same formula at every epsilon, so noise that is too small there is too small here as well.</dd>
{% endif %}
<dt>False alarms</dt><dd>A model that keeps its guarantee fails one of the tests on this page at most
once in {{ rarely }} such audits. An audit can prove a leak, but not its absence.</dd></dl></section>
{% if curves %}<section><h2>Tracing attacks</h2>
<p>Attacks by someone who knows the true model and guesses who is in the data, from scores of members and outsiders.
The dashed line is the most that the guarantee allows.</p>
<div class="plots">{% for caption, svg in curves %}<figure>{{ svg|safe }}
<figcaption class="small">{{ caption }}</figcaption></figure>{% endfor %}</div></section>{% endif %}
<section><h2>In detail</h2>
{% for f in detailed %}
{% if folded %}<details><summary>{{ f.name }}</summary>{% else %}<h3>{{ f.name }}</h3>{% endif %}
{% if f.asked %}<div class="scroll"><table class="left"><tbody>
{% for name, text in f.asked %}<tr><td>{{ name }}</td><td>{{ text }}</td></tr>{% endfor %}
</tbody></table></div>{% endif %}
{% if f.replay %}<p>Releases of the fit, and the loss of the worst pair of neighbours in each: mu
{{ "%.4g"|format(f.replay.realised_mu) }} of {{ "%.4g"|format(f.replay.claimed_mu) }} in all.</p>
<div class="scroll"><table><thead><tr><th>release</th><th>times</th><th>share</th><th>lost mu</th>
<th>allowed mu</th><th>reach</th><th>noise std</th></tr></thead><tbody>
{% for r in release_groups(f.replay.releases) %}
<tr><td>{{ r.label }}</td><td>{{ r.times }}</td><td>{{ percent(r.share) }}</td><td>{{ "%.3g"|format(r.lost) }}</td>
<td>{{ "%.3g"|format(r.allowed) }}</td><td>{{ r.reach }}</td><td>{{ r.noise }}</td></tr>
{% endfor %}
</tbody></table></div>
<p class="small">Reach: how far one person can move the answer at most. Noise std: the standard deviation of the noise
added to it. Allowed mu: reach over noise. Lost mu: how far the found pair moves the answer, over the noise. Releases of
one kind are in one row; their mu² add up.</p>{% endif %}
{% if f.black_box %}{% set box = f.black_box %}
<p>Attacked at epsilon {{ "%.3g"|format(box.claimed_epsilon) }}, delta {{ "%.3g"|format(box.delta) }} (mu
{{ "%.3g"|format(box.claimed_mu) }}): {{ box.false_alarms }} false alarms and {{ box.misses }} misses in
{{ box.runs }} fits on each side (guess by: {{ box.guess }}). So the loss is at least mu
{{ "%.3g"|format(box.mu) }}, epsilon {{ "%.3g"|format(box.epsilon) }}.</p>
<div class="plots"><figure>{{ scores(box)|safe }}</figure><figure>{{ trade_off(box)|safe }}</figure></div>{% endif %}
{% if folded %}</details>{% endif %}
{% endfor %}</section>
<section><h2>Settings</h2><table class="left"><tbody>
{% for name, value in report.settings.items() %}<tr><td>{{ name }}</td>
<td>{{ "%.6g"|format(value) }}</td></tr>{% endfor %}
</tbody></table></section>
<footer>Made on {{ made }}{% if version %} by discreet {{ version }}{% endif %}.
{% if command %}Command: <code>{{ command }}</code>{% endif %}</footer>
</body></html>
"""
