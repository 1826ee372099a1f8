"""The look of pages that stand alone: warm paper, one accent, light and dark, fit for print."""

_LIGHT = (
    "--bg:#FAF9F6;--surface:#FFFFFF;--sunken:#F5F3EE;--line:#E4E0D8;--line2:#C8C2B6;--ink:#1B1A18;--ink2:#56524B;--ink3:#6A655D;"
    "--accent:#2A4BA0;--accent-soft:#E9EEFA;--ok:#1F6B42;--ok-soft:#E5F2EA;--warn:#865000;--warn-soft:#FBF1DF;--bad:#A52A2A;"
    "--bad-soft:#FBEAE8;--mark:#FFEFB0"
)
_DARK = (
    "--bg:#161513;--surface:#1F1D1A;--sunken:#272520;--line:#36332D;--line2:#57524A;--ink:#ECE9E2;--ink2:#B8B2A7;--ink3:#A19B90;"
    "--accent:#9DB5F2;--accent-soft:#252D42;--ok:#7FCB9E;--ok-soft:#1C3025;--warn:#E2B163;--warn-soft:#352A1A;--bad:#F09C94;"
    "--bad-soft:#3C2321;--mark:#574A14"
)

STYLE = f"""
:root{{color-scheme:light dark;{_LIGHT};
--ui:Inter,ui-sans-serif,system-ui,"Segoe UI",Roboto,"Helvetica Neue",sans-serif;
--read:Charter,"Charis SIL","Iowan Old Style",Georgia,serif;
--mono:"JetBrains Mono",ui-monospace,Menlo,Consolas,monospace}}
@media (prefers-color-scheme:dark){{:root{{{_DARK}}}}}
*{{box-sizing:border-box}}
body{{margin:0;background:var(--bg);color:var(--ink);font:17px/28px var(--read);overflow-wrap:break-word}}
article{{max-width:44.5rem;margin:0 auto;padding:32px 24px 64px}}
a{{color:var(--accent);text-underline-offset:3px}}
:focus-visible{{outline:2px solid var(--accent);outline-offset:2px}}
h1{{font:600 26px/34px var(--ui);letter-spacing:-.015em;margin:0 0 8px}}
h2{{font:600 21px/28px var(--ui);letter-spacing:-.012em;margin:32px 0 8px}}
h3{{font:600 17px/26px var(--ui);margin:24px 0 4px}}
h4,h5,h6{{font:600 15px/24px var(--ui);margin:20px 0 4px}}
p{{margin:0 0 14px}}
ul,ol{{margin:0 0 14px;padding-inline-start:24px}}
li{{margin:0 0 6px}}
.meta,.question,.reasons{{font:13px/20px var(--ui);color:var(--ink2);margin:0 0 8px}}
header{{border-bottom:1px solid var(--line);padding-bottom:12px;margin-bottom:20px}}
header + p{{font-size:18px;line-height:30px}}
.grade{{display:inline-block;padding:2px 8px;border-radius:6px;font-weight:500}}
.grade.complete{{background:var(--ok-soft);color:var(--ok)}}
.grade.partial{{background:var(--warn-soft);color:var(--warn)}}
.grade.nothing_found{{background:var(--sunken);color:var(--ink2)}}
.cit{{display:inline-block;min-width:19px;padding:3px 5px;margin:0 1px 0 2px;border-radius:5px;
background:var(--accent-soft);color:var(--accent);font:600 12px/12px var(--ui);text-align:center;vertical-align:2px;
text-decoration:none;font-variant-numeric:tabular-nums}}
.mk{{font:500 12px/1 var(--ui);padding:3px 6px;border-radius:5px;margin-inline-start:4px;white-space:nowrap;
background:var(--bad-soft);color:var(--bad)}}
.mk.partly{{background:var(--warn-soft);color:var(--warn)}}
.wide{{overflow-x:auto;margin:0 0 14px}}
table{{border-collapse:collapse;width:100%;font:14px/20px var(--ui);font-variant-numeric:tabular-nums}}
th{{font-weight:600;text-align:start;font-size:13px;border-bottom:1px solid var(--line2);
padding-block:6px;padding-inline:0 12px}}
td{{border-bottom:1px solid var(--line);padding-block:7px;padding-inline:0 12px;vertical-align:baseline}}
blockquote{{margin:0 0 14px;padding-inline-start:14px;border-inline-start:2px solid var(--line2);color:var(--ink2)}}
blockquote p{{margin:0 0 6px;white-space:pre-line}}
code{{font:14px/20px var(--mono);background:var(--sunken);border-radius:4px;padding:1px 4px}}
pre{{background:var(--sunken);border-radius:8px;padding:12px 16px;overflow-x:auto}}
pre code{{padding:0;background:none}}
math{{font-size:1.05em}}
.quotes{{border-top:1px solid var(--line);margin-top:32px}}
.quotes h3{{font-size:15px;line-height:22px}}
.quotes .n{{display:inline-block;min-width:24px;color:var(--accent);font-variant-numeric:tabular-nums}}
.quotes footer{{font:12px/18px var(--ui);display:flex;gap:12px}}
blockquote:target{{background:var(--mark);color:var(--ink);border-color:var(--warn)}}
mark{{background:var(--mark);color:var(--ink);padding:1px 0;border-radius:2px}}
mark:not(.focus){{background:none;color:inherit;border-bottom:3px solid var(--mark)}}
mark.focus{{outline:none;scroll-margin-top:30vh}}
@media (max-width:640px){{article{{padding:16px 16px 40px}}.cit{{min-width:24px;padding:5px 6px}}}}
@media print{{:root{{{_LIGHT};--bg:#fff}}body{{font-size:11pt;line-height:16pt}}article{{max-width:none;padding:0}}
h2,h3,h4{{break-after:avoid}}blockquote,tr,li{{break-inside:avoid}}.quotes footer{{display:none}}a{{color:inherit}}}}
"""
"""A style sheet that asks for nothing from outside: fonts are the system's where the named ones are not installed."""
