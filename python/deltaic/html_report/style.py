"""The style sheet of the page: readable on phones and screens, in light and dark."""

from __future__ import annotations

__all__ = ["STYLE"]

STYLE = """
:root{color-scheme:light dark;--page:#f6f7f9;--card:#fff;--text:#1c2127;--soft:#5b6570;--line:#dfe3e8;
--bar:#2f6fde;--track:#eceff3;--change:#b7791f;--remove:#c2412d;--other:#8894a3;--area:#2f6fde22;
--warning:#b42318;--advice:#a15c07;--info:#2f6fde;--code:#f0f2f5}
@media (prefers-color-scheme:dark){:root{--page:#111418;--card:#1a1f25;--text:#e6e9ed;--soft:#9aa5b1;
--line:#2c333b;--bar:#6ea0f6;--track:#252c34;--change:#e0a84b;--remove:#ee7d6b;--other:#76828f;--area:#6ea0f622;
--warning:#ff8a7a;--advice:#f0b35c;--info:#8ab4ff;--code:#12161b}}
*{box-sizing:border-box}
body{margin:0;background:var(--page);color:var(--text);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{max-width:1080px;margin:0 auto;padding:20px 16px 40px}
h1{font-size:22px;margin:0;overflow-wrap:anywhere}
h2{font-size:17px;margin:0 0 10px}
h3{font-size:15px;margin:20px 0 8px}
p{margin:4px 0;overflow-wrap:anywhere}
.soft,figcaption,.scale{color:var(--soft);font-size:13px}
section{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:16px;margin-top:16px}
.two{display:grid;align-items:start;gap:0 16px;
grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr))}
.facts{display:grid;gap:8px 24px;grid-template-columns:repeat(auto-fit,minmax(120px,1fr));margin:12px 0 0}
.facts div{min-width:0}.facts dt{color:var(--soft);font-size:13px;
overflow-wrap:anywhere}.facts dd{margin:0;font-weight:600;
font-size:18px;overflow-wrap:anywhere}
.facts.small{grid-template-columns:repeat(auto-fit,minmax(min(100%,260px),1fr))}
.facts.small dd{font-size:14px;font-weight:400}
dl{margin:0}
figure{margin:0}
svg.drawing{display:block;width:100%;height:180px}
figcaption{margin-top:4px;display:flex;justify-content:space-between;gap:12px}
.grid{stroke:var(--line);stroke-width:1;fill:none;vector-effect:non-scaling-stroke}
.line{stroke:var(--bar);stroke-width:2;fill:none;vector-effect:non-scaling-stroke}
.area{fill:var(--area)}.point{fill:transparent}.track{fill:var(--track)}
rect.plain,rect.add{fill:var(--bar)}rect.change{fill:var(--change)}rect.remove{fill:var(--remove)}
rect.other{fill:var(--other)}
.legend{display:flex;flex-wrap:wrap;gap:4px 16px;font-size:13px;color:var(--soft);margin:6px 0 0}
.legend i{display:inline-block;width:10px;height:10px;border-radius:2px;margin-right:5px;
background:var(--bar)}
.legend i.change{background:var(--change)}.legend i.remove{background:var(--remove)}
.legend i.other{background:var(--other)}
.rows{display:grid;gap:6px}
.row{display:grid;grid-template-columns:minmax(84px,30%) 1fr minmax(90px,auto);gap:10px;align-items:center;
font-size:13px}
.row .label{overflow-wrap:anywhere}.row svg{width:100%;height:12px;display:block}
.row .value{text-align:right;color:var(--soft);font-variant-numeric:tabular-nums}
.wide{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-size:13px;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:5px 12px 5px 0;border-bottom:1px solid var(--line);vertical-align:top}
th{color:var(--soft);font-weight:500}td.number,th.number{text-align:right}
tr:last-child td{border-bottom:0}
.commits td{white-space:nowrap}
.finding{border-left:3px solid var(--info);padding:2px 0 2px 12px;margin:14px 0}
.finding.warning{border-color:var(--warning)}.finding.advice{border-color:var(--advice)}
.severity{text-transform:uppercase;font-size:12px;letter-spacing:.04em;color:var(--info)}
.warning>p>.severity{color:var(--warning)}.advice>p>.severity{color:var(--advice)}
code,pre{font:13px/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
p code{color:var(--soft);overflow-wrap:anywhere}
pre{background:var(--code);border:1px solid var(--line);border-radius:6px;padding:8px 10px;margin:6px 0;
white-space:pre-wrap;overflow-wrap:anywhere}
ol{padding-left:22px}li{margin:8px 0}
@media (max-width:520px){main{padding:12px 10px 30px}section{padding:12px}.facts dd{font-size:16px}
.row{grid-template-columns:1fr auto;gap:2px 10px}.row svg{grid-row:2;grid-column:1/3}}
@media print{body{background:#fff}section{break-inside:avoid}}
""".replace("\n", "")
