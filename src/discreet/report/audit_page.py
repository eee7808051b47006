"""An audit as one self-contained HTML page, without scripts, external fonts or images."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from discreet.report.audit_plots import scores_plot, trade_off_plot
from discreet.report.audit_template import PAGE, STYLE
from discreet.report.model_style import CSS

# If there are more models than this, their details are folded.
_OPEN = 6


def audit_page(
    report: Mapping[str, Any],
    *,
    title: str = "",
    version: str = "",
    command: str = "",
    curves: Sequence[tuple[str, str]] = (),
) -> str:
    """The page of an audit's ``Suite.to_dict``; ``curves`` are captions with SVG."""
    from jinja2 import Environment

    findings = list(report["findings"])
    kinds = list(dict.fromkeys(finding["kind"] for finding in findings))
    detailed = [finding for finding in findings if finding["expected"] or not finding["as_expected"]]
    template = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(PAGE)
    return template.render(
        report=report,
        title=title or _title(findings),
        style=CSS + STYLE,
        version=version,
        command=command,
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        curves=curves,
        groups=[(kind, [finding for finding in findings if finding["kind"] == kind]) for kind in kinds],
        detailed=detailed,
        folded=len(detailed) > _OPEN,
        headline=_headline(findings),
        asked=_asked(detailed),
        loss=_largest(detailed, _loss_share),
        attack=_largest(detailed, _attack_share),
        loss_share=_loss_share,
        attack_share=_attack_share,
        release_groups=_release_groups,
        rarely=f"{1 / max(report['false_alarm_rate'], 1e-12):,.0f}",
        seen=_seen,
        any_seen=lambda findings: any(_seen(finding) for finding in findings),
        scores=lambda box: scores_plot(box["first_scores"], box["second_scores"]),
        trade_off=lambda box: trade_off_plot(box["first_scores"], box["second_scores"], box["claimed_mu"]),
    )


def _title(findings: Sequence[Mapping[str, Any]]) -> str:
    models = {dict(finding.get("asked", ())).get("model") for finding in findings}
    return f"Privacy audit of {models.pop()}" if len(models) == 1 and None not in models else "Privacy audit"


def _headline(findings: Sequence[Mapping[str, Any]]) -> str:
    honest = [finding for finding in findings if finding["expected"]]
    blamed = sum(not finding["as_expected"] for finding in honest)
    said = [f"{blamed} of {len(honest)} claims are false." if blamed else f"No claim of {len(honest)} was refuted."]
    planted = len(findings) - len(honest)
    if planted:
        caught = sum(finding["as_expected"] for finding in findings if not finding["expected"])
        said.append(f"{caught} of {planted} models that are broken on purpose were caught.")
    return " ".join(said)


def _asked(findings: Sequence[Mapping[str, Any]]) -> str:
    """The guarantee that was asked for, where all findings are about the same one."""
    told = {(facts.get("epsilon"), facts.get("delta")) for facts in (dict(one.get("asked", ())) for one in findings)}
    if len(told) != 1:
        return ""
    epsilon, delta = told.pop()
    return f"epsilon {epsilon} at delta {delta}" if epsilon else ""


def _loss_share(finding: Mapping[str, Any]) -> float | None:
    """The largest loss found, as a share of what the guarantee allows."""
    return finding["replay"]["efficiency"] if finding["replay"] else None


def _attack_share(finding: Mapping[str, Any]) -> float | None:
    box = finding["black_box"]
    if not box:
        return None
    if math.isfinite(box["claimed_mu"]) and box["claimed_mu"] > 0:
        return float(box["mu"] / box["claimed_mu"])
    return float(box["epsilon"] / box["claimed_epsilon"])


def _largest(findings: Sequence[Mapping[str, Any]], share: Any) -> tuple[float, Mapping[str, Any]] | None:
    found = [(share(finding), finding) for finding in findings if share(finding) is not None]
    return max(found, key=lambda pair: pair[0]) if found else None


def _release_groups(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Releases of one kind, such as all gradients, in one row: mu^2 adds up."""
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row["label"], []).append(row)
    made = []
    for label, group in groups.items():
        allowed, lost = (math.sqrt(math.fsum(row[name] ** 2 for row in group)) for name in ("mu", "lost"))
        made.append(
            {
                "label": label,
                "times": len(group),
                "reach": _range([row["reach"] for row in group]),
                "noise": _range([row["noise_std"] for row in group]),
                "allowed": allowed,
                "lost": lost,
                "share": lost / allowed if allowed > 0 else 0.0,
                "worst": max(row["efficiency"] for row in group),
            }
        )
    return made


def _range(values: Sequence[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:.3g}" if math.isclose(low, high, rel_tol=1e-3) else f"{low:.3g} to {high:.3g}"


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
