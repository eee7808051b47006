"""The style of a model's report: one column for phones, screens and A4."""

CSS = """
:root { --ink:#1b2330; --soft:#5b6675; --line:#d9dee6; --card:#f5f7fa; --page:#fff; --blue:#1f5fa8; --grey:#8b95a3; }
@media (prefers-color-scheme: dark) { @media screen { :root {
 --ink:#e8ecf2; --soft:#a3adba; --line:#343d4a; --card:#1c232d; --page:#12171e; --blue:#6aa9f0; --grey:#6d7887; } } }
* { box-sizing:border-box; }
body { margin:0 auto; max-width:820px; padding:28px 20px 40px; background:var(--page); color:var(--ink);
 font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif; }
h1 { font-size:1.55rem; line-height:1.25; margin:0 0 2px; overflow-wrap:anywhere; }
h2 { font-size:1.08rem; margin:34px 0 8px; padding-top:14px; border-top:1px solid var(--line); }
p { margin:6px 0 10px; } .soft { color:var(--soft); } small, .small { font-size:.86rem; color:var(--soft); }
.verdict { font-size:1.2rem; font-weight:600; margin:16px 0; padding:14px 18px; border-left:5px solid var(--blue);
 background:var(--card); border-radius:4px; }
.verdict.weak { border-color:var(--grey); }
.cards { display:grid; grid-template-columns:repeat(auto-fit,minmax(230px,1fr)); gap:12px; }
.card { background:var(--card); border-radius:6px; padding:14px 16px; break-inside:avoid; }
.card b { display:block; font-size:1.3rem; line-height:1.3; } .card .label { color:var(--soft); font-size:.86rem; }
.warn { background:#fff3cd; color:#5c4400; border-radius:4px; padding:10px 14px; font-weight:600; }
.scroll { overflow-x:auto; }
table { border-collapse:collapse; width:100%; font-size:.92rem; font-variant-numeric:tabular-nums; }
th, td { text-align:right; white-space:nowrap; padding:5px 8px; vertical-align:top;
 border-bottom:1px solid var(--line); }
th:first-child, td:first-child { text-align:left; min-width:8.5em; overflow-wrap:break-word; }
 thead th { color:var(--soft); font-weight:600; }
table.left th, table.left td { text-align:left; white-space:normal; }
td:first-child { white-space:normal; } tr { break-inside:avoid; }
svg.forest { width:100%; height:auto; display:block; min-width:440px; }
svg text { font:13px system-ui,sans-serif; fill:var(--ink); }
 svg .tick { text-anchor:middle; fill:var(--soft); font-size:12px; }
svg .name { text-anchor:end; } svg .axis { text-anchor:middle; fill:var(--soft); }
svg .grid { stroke:var(--line); } svg .zero { stroke:var(--soft); stroke-dasharray:3 3; }
svg .thin { stroke:var(--blue); stroke-width:2; } svg .thick { stroke:var(--blue); stroke-width:9; opacity:.45; }
svg .dot { fill:var(--blue); } svg .thin.unclear, svg .thick.unclear { stroke:var(--grey); }
 svg .dot.unclear { fill:var(--grey); }
.bar { height:14px; border-radius:7px; background:var(--line); overflow:hidden; display:flex; margin:8px 0; }
.bar i { display:block; height:100%; background:var(--grey); } .bar i.now { background:var(--blue); }
ul { padding-left:20px; margin:6px 0; } li { margin:4px 0; }
code, pre { font-family:ui-monospace,Menlo,Consolas,monospace; font-size:.84rem; }
pre { background:var(--card); padding:12px; border-radius:6px; overflow-x:auto; white-space:pre-wrap;
 overflow-wrap:anywhere; }
footer { margin-top:34px; padding-top:12px; border-top:1px solid var(--line); color:var(--soft); font-size:.84rem; }
@media (max-width:520px) { thead th { white-space:normal; } th:first-child, td:first-child { min-width:6.5em; } }
@page { size:A4; margin:16mm 15mm; }
@media print { body { max-width:none; padding:0; font-size:10.5pt; } h2 { break-after:avoid; }
 .scroll { overflow:visible; }
 svg.forest { min-width:0; } section { break-inside:avoid; } section.file { display:none; }
 thead { break-after:avoid; }
 .verdict, .card { border:1px solid var(--line); } }
"""
