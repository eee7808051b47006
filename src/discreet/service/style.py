"""The page's one style sheet and its one script; the page's content policy allows these two and nothing else."""

from __future__ import annotations

import base64
import hashlib

STYLE = """
:root{--ink:#1b2430;--soft:#4d5a6b;--line:#d5dce5;--back:#f4f6f9;--card:#fff;--main:#0b5c8a;--bar:#0b6fa4;
--unsure:#5d6875;--warn:#8a3b00;--focus:#b3470a;color-scheme:light dark}
@media (prefers-color-scheme:dark){:root{--ink:#e8edf3;--soft:#b0bccb;--line:#3a4656;--back:#12181f;--card:#1b232d;
--main:#7cc4ef;--bar:#4aa8dc;--unsure:#a3afbd;--warn:#ffb27a;--focus:#ffb27a}}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
.wrap{max-width:68rem;margin:0 auto;padding:0 1rem}
.skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:.5rem;background:var(--card);padding:.5rem 1rem}
header{padding:1.5rem 0 .25rem}
h1{font-size:1.6rem;line-height:1.2;margin:0;overflow-wrap:anywhere}
h2{font-size:1.15rem;margin:0 0 .6rem}h3{font-size:1.02rem;margin:0 0 .15rem}
p{margin:.3rem 0 .7rem}.soft{color:var(--soft)}small,.small{font-size:.875rem}
.state{display:inline-block;margin:.5rem 0 0;padding:.05rem .65rem;border:1px solid currentColor;border-radius:1rem;
font-size:.875rem;color:var(--main)}
.card{background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:1.1rem 1.1rem .9rem;
margin:1rem 0}
.tiles{display:grid;gap:.8rem;margin:1rem 0;grid-template-columns:1fr 1fr}.tiles .card:first-child{grid-column:1/-1}
.tiles .card{margin:0}
.big{font-size:2rem;font-weight:650;line-height:1.15;font-variant-numeric:tabular-nums}
progress{appearance:none;width:100%;height:.85rem;border:0;border-radius:1rem;overflow:hidden;background:var(--line);
display:block;margin:.7rem 0 .4rem}
progress::-webkit-progress-bar{background:var(--line)}
progress::-webkit-progress-value{background:var(--bar);border-radius:1rem}
progress::-moz-progress-bar{background:var(--bar)}
.model{border-top:1px solid var(--line);padding-top:.9rem;margin-top:.9rem}
.model:first-of-type{border-top:0;padding-top:0}
.pair{display:grid;gap:1.25rem}figure{margin:0;min-width:0}
figcaption,caption{font-size:.875rem;color:var(--soft);text-align:left;padding-bottom:.35rem}
.plot{display:block}.plot text{font-size:14px;fill:var(--ink)}.plot .tick{text-anchor:middle;font-size:13px;
fill:var(--soft)}
.plot .value{text-anchor:end;font-variant-numeric:tabular-nums}
.plot line{stroke-width:1}.plot .grid{stroke:var(--line)}.plot .zero{stroke:var(--soft);stroke-dasharray:4 3}
.plot g line{stroke-width:2.5}.plot .sure{stroke:var(--main);fill:var(--main)}
.plot .unsure{stroke:var(--unsure);fill:var(--card)}.plot .unsure circle{stroke-width:2.5}
.scroll{overflow-x:auto;max-width:100%;min-width:0}
table{border-collapse:collapse;width:100%;font-size:.875rem;font-variant-numeric:tabular-nums}
th,td{padding:.34rem .4rem;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap;
vertical-align:bottom}
thead th{font-weight:600;white-space:normal}tbody th{white-space:normal;overflow-wrap:anywhere;vertical-align:top}
tbody td{vertical-align:top}th:first-child{text-align:left;padding-left:0;font-weight:500}
td:last-child,th:last-child{padding-right:0}
ul{margin:.3rem 0 .7rem;padding-left:1.2rem}li{margin:.25rem 0}
footer{padding:.5rem 0 2rem;color:var(--soft);font-size:.875rem}
.row{display:flex;flex-wrap:wrap;gap:.6rem 1.2rem;align-items:center}
code{overflow-wrap:anywhere;font-size:.85em}a{color:var(--main)}
button,input[type=password]{font:inherit;color:inherit;border:1px solid var(--soft);border-radius:.5rem;
padding:.5rem .9rem;
background:var(--card);min-height:2.75rem}
button{cursor:pointer}.primary{background:var(--main);color:var(--card);border-color:var(--main)}
input[type=password]{width:100%;margin:.3rem 0 .8rem}input[type=checkbox]{width:1.2rem;height:1.2rem}
label.row{gap:.5rem;min-height:2.75rem}
.wrong{color:var(--warn);font-weight:600}
:focus-visible{outline:3px solid var(--focus);outline-offset:2px}
@media (max-width:30rem){.wrap{padding:0 .8rem}.card{padding:.9rem .9rem .7rem}table{font-size:.8125rem}
th,td{padding:.34rem .25rem}tbody th{min-width:4.7rem}td .soft{font-size:.75rem}.tiles h2{font-size:1rem}}
@media (min-width:44rem){.tiles{gap:1rem;grid-template-columns:1.4fr 1fr 1fr}.tiles .card:first-child{grid-column:auto}

h1{font-size:2rem}.card{padding:1.4rem 1.5rem 1.2rem}}
@media (min-width:60rem){.pair{grid-template-columns:1fr 1.05fr;align-items:start}}
@media (prefers-reduced-motion:no-preference){progress::-webkit-progress-value{transition:width .4s}}
"""

# Only what changes is exchanged, so focus, scroll position and the screen reader's place stay where they are.
SCRIPT = """
const box=document.getElementById('auto');document.getElementById('refresh').hidden=false;
setInterval(async()=>{if(!box.checked||document.hidden)return;
try{const r=await fetch('/',{redirect:'error'});if(!r.ok)return;
const d=new DOMParser().parseFromString(await r.text(),'text/html');
for(const old of document.querySelectorAll('[data-live]')){const neu=d.getElementById(old.id);
if(neu&&!old.contains(document.activeElement)&&neu.innerHTML!==old.innerHTML)old.innerHTML=neu.innerHTML}}
catch{}},10000);
"""


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


CONTENT_POLICY = (
    f"default-src 'none'; style-src {_hash(STYLE)}; script-src {_hash(SCRIPT)}; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
