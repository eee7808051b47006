"""The collector's page: how far the collection is, what it says, how sure that is, and what it promises."""

from __future__ import annotations

from html import escape

from discreet.local import in_words
from discreet.local.task import Task
from discreet.service.plot import interval_plot, number, rough
from discreet.service.snapshot import FittedModel, Forecast, Snapshot
from discreet.service.style import CONTENT_POLICY, SCRIPT, STYLE

__all__ = ["CONTENT_POLICY", "login", "overview"]


def overview(task: Task, snapshot: Snapshot, *, signed_in: bool) -> str:
    """The whole page."""
    main = (
        f'<div class="tiles">{_progress(snapshot)}{_forecasts(snapshot)}</div>'
        f"{_models(snapshot)}{_promise(task)}{_reading()}"
    )
    return _document(task.name, _header(task, snapshot), main, _footer(task, signed_in), SCRIPT)


def login(task: Task, *, wrong: bool) -> str:
    """The form for analysts."""
    error = '<p class="wrong" id="wrong" role="alert">This is no valid analyst token.</p>' if wrong else ""
    described = ' aria-describedby="wrong" aria-invalid="true"' if wrong else ""
    form = (
        '<section class="card" aria-labelledby="sign-in"><h2 id="sign-in">For analysts</h2>'
        "<p>The results of this collection are shown to those who hold an analyst token. "
        "Devices need no page: they send one report each.</p>"
        f'<form method="post" action="/login">{error}<label for="token">Analyst token</label>'
        # Password managers, and people who rely on them, look for a name beside a secret.
        '<input name="username" value="analyst" autocomplete="username" hidden>'
        f'<input id="token" name="token" type="password" autocomplete="current-password" required{described}>'
        '<button class="primary">Sign in</button></form></section>'
    )
    return _document(task.name, f"<h1>{escape(task.name)}</h1>", form, "", "")


def _document(title: str, header: str, main: str, footer: str, script: str) -> str:
    tail = f"<script>{script}</script>" if script else ""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)} – discreet collector</title><style>{STYLE}</style></head><body>"
        f'<a class="skip" href="#main">Skip to the results</a><div class="wrap"><header>{header}</header>'
        f'<main id="main" tabindex="-1">{main}</main><footer>{footer}</footer></div>{tail}</body></html>'
    )


def _header(task: Task, snapshot: Snapshot) -> str:
    state = "Closed: this result is final" if snapshot.closed else "Collecting"
    features = f"{len(task.names)} feature{'s' if len(task.names) != 1 else ''}"
    return (
        f"<h1>{escape(task.name)}</h1>"
        f'<p class="soft small">{escape(task.target.name)} explained by {features}, from randomized reports only</p>'
        f'<div id="state" data-live><span class="state">{state}</span></div>'
    )


def _progress(snapshot: Snapshot) -> str:
    share = min(1.0, snapshot.counted / snapshot.goal)
    later = f" {snapshot.next_batch:,} late reports wait in the next batch." if snapshot.next_batch else ""
    return (
        '<section class="card" aria-labelledby="progress"><h2 id="progress">Progress</h2>'
        f'<div id="progress-live" data-live><div class="big">{snapshot.counted:,}</div>'
        f'<progress max="{snapshot.goal}" value="{min(snapshot.counted, snapshot.goal)}" aria-labelledby="progress">'
        f"</progress><p>{share:.0%} of the planned {snapshot.goal:,} reports.{later}</p></div></section>"
    )


def _forecasts(snapshot: Snapshot) -> str:
    tiles = [("error-now", "Error now", snapshot.now), ("error-goal", "Error at the goal", snapshot.at_goal)]
    return "".join(_forecast(*tile) for tile in tiles)


def _forecast(place: str, title: str, forecast: Forecast | None) -> str:
    if forecast is None:
        text = '<div class="big">–</div><p class="soft">Known as soon as reports arrive.</p>'
    else:
        size = f"{forecast.error:.1%}" if forecast.error < 0.1 else f"{forecast.error:.0%}"
        shown = size if forecast.error < 1 else "over 100%"
        text = f'<div class="big">{shown}</div><p>of a typical effect is expected from {forecast.n:,} reports.</p>'
    return (
        f'<section class="card" aria-labelledby="{place}"><h2 id="{place}">{title}</h2>'
        f'<div id="{place}-live" data-live>{text}</div></section>'
    )


def _models(snapshot: Snapshot) -> str:
    if snapshot.models:
        intro = f"<p>Fitted to {snapshot.fitted:,} reports. All models use the same reports, at no further privacy.</p>"
        content = intro + "".join(_model(model, place) for place, model in enumerate(snapshot.models))
    else:
        content = "<p>The first models appear when enough reports are there that no single one could stand out.</p>"
    return (
        '<section class="card" aria-labelledby="models"><h2 id="models">What the reports say</h2>'
        f'<div id="models-live" data-live>{content}</div></section>'
    )


def _model(model: FittedModel, place: int) -> str:
    head = f'<h3 id="model-{place}">{escape(model.title)}</h3><p class="soft small">{escape(model.explanation)}</p>'
    if model.failure:
        body = f'<p class="wrong">{escape(model.failure)}</p>'
    else:
        title = f"{model.title}: effects with 95 % intervals; the table holds the numbers"
        body = (
            '<div class="pair"><figure><figcaption>From the middle of each feature’s declared range to its upper end, '
            "with 95&nbsp;% intervals. Hollow: zero is possible."
            f"</figcaption>{interval_plot(model.coefficients, title)}</figure>{_table(model)}</div>"
        )
    return f'<section class="model" aria-labelledby="model-{place}">{head}{body}</section>'


def _table(model: FittedModel) -> str:
    shares = sorted(model.coefficients[0].moved_by)
    heads = "".join(f'<th scope="col">{share}&nbsp;% liars</th>' for share in shares)
    rows = "".join(
        f'<tr><th scope="row">{_breakable(c.name)}</th><td>{number(c.value)}'
        f'<br><span class="soft">{number(c.low)} … {number(c.high)}</span></td>'
        + "".join(f"<td>± {rough(c.moved_by[share])}</td>" for share in shares)
        + "</tr>"
        for c in model.coefficients
    )
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(model.title)}, as a table">'
        "<table><caption>Per unit of each feature, and how far lying devices could move that.</caption>"
        '<thead><tr><th scope="col">Name</th><th scope="col">Estimate, 95&nbsp;% interval</th>'
        f"{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _breakable(name: str) -> str:
    """A long name may break after an underscore, rather than anywhere."""
    return escape(name).replace("_", "_<wbr>")


def _promise(task: Task) -> str:
    return (
        '<section class="card" aria-labelledby="promise"><h2 id="promise">What every participant is promised</h2>'
        f"<p>{escape(in_words(task))}</p><ul>"
        "<li>This also covers everything that is ever computed from the reports, however often.</li>"
        "<li>No page and no address of this collector shows a single report.</li>"
        "<li>A report is stored without the token that came with it, without a time and without an address.</li>"
        "</ul></section>"
    )


def _reading() -> str:
    return (
        '<section class="card" aria-labelledby="reading"><h2 id="reading">How to read this</h2>'
        "<p>A 95&nbsp;% interval covers the true coefficient in 19 of 20 such collections; it contains the "
        "privacy noise as well as the chance of who took part. It does not contain deliberate lies: the columns "
        "“liars” say how far an estimate could be moved if that share of devices sent the worst reports that are "
        "valid.</p></section>"
    )


def _footer(task: Task, signed_in: bool) -> str:
    leave = '<form method="post" action="/logout"><button>Sign out</button></form>' if signed_in else ""
    return (
        '<div class="row"><span id="refresh" hidden><label class="row"><input type="checkbox" id="auto" checked>'
        'Refresh every 10 seconds</label></span><a href="/">Refresh now</a>'
        f'<a href="/v1/task">The task</a>{leave}</div>'
        f"<p>Task <code>{task.digest[:16]}</code></p>"
    )
