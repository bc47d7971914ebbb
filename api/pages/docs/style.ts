/** Readable from 320 px up, light and dark, with the contrast of WCAG AAA. */
export const DOCS_STYLE = `
:root { color-scheme: light dark; --ink: #1b1d21; --soft: #43474f; --paper: #fff; --panel: #f2f4f8; --line: #c9ced8;
  --accent: #12397a; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #eceef2; --soft: #c3c8d2; --paper: #16181c; --panel: #22252b; --line: #434956; --accent: #b3cdff; }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.6 system-ui, sans-serif; }
a { color: var(--accent); text-underline-offset: 0.15em; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
main:focus { outline: none; }
.skip { position: absolute; left: -100rem; padding: 0.75rem 1rem; background: var(--paper); z-index: 1; }
.skip:focus { left: 0.5rem; top: 0.5rem; }
.layout { max-width: 80rem; margin: 0 auto; }
nav { padding: 1rem 1.25rem; border-bottom: 1px solid var(--line); }
nav ul { margin: 0; padding: 0; list-style: none; }
nav > ul { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; }
nav ul ul { display: none; }
nav a { display: inline-block; padding: 0.25rem 0; }
main { padding: 1rem 1.25rem 4rem; overflow-wrap: anywhere; }
main > p, section > p { max-width: 46rem; }
h1 { margin: 1rem 0; font-size: 2rem; line-height: 1.2; }
h2 { margin: 3rem 0 1rem; padding-bottom: 0.25rem; border-bottom: 2px solid var(--accent); font-size: 1.6rem; }
h3 { margin: 0 0 0.5rem; font-size: 1.25rem; line-height: 1.3; }
h4 { margin: 1.25rem 0 0.5rem; font-size: 1rem; }
p { margin: 0 0 0.75rem; }
.version, .type, .scope, .rules { color: var(--soft); font-weight: 400; }
.rules { font-size: 0.9rem; }
.lead { font-size: 1.2rem; }
.operation { margin: 2rem 0; padding-top: 1.5rem; border-top: 1px solid var(--line); }
.address { font-size: 1.05rem; }
.method { padding: 0.1rem 0.5rem; border: 2px solid var(--accent); border-radius: 0.25rem; font-weight: 700; }
code, pre { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: 0.9em; }
pre { margin: 0 0 0.75rem; padding: 0.75rem 1rem; background: var(--panel); border-radius: 0.5rem; white-space: pre-wrap; }
dl { margin: 0 0 0.75rem; }
dt { margin-top: 0.75rem; }
dt > code { font-weight: 700; }
dd { margin: 0.1rem 0 0 0; padding-left: 1rem; border-left: 2px solid var(--line); }
dd > p { margin: 0 0 0.25rem; max-width: 44rem; }
summary { padding: 0.25rem 0; cursor: pointer; font-weight: 700; }
.visually-hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media (min-width: 60rem) {
  .layout { display: grid; grid-template-columns: 19rem minmax(0, 1fr); }
  nav { position: sticky; top: 0; max-height: 100vh; overflow-y: auto; border-bottom: 0; border-right: 1px solid var(--line); }
  nav > ul { display: block; }
  nav ul ul { display: block; margin: 0 0 0.75rem 0.75rem; font-size: 0.9rem; line-height: 1.4; }
  main { padding: 1rem 2.5rem 6rem; }
}
@media print { nav { display: none; } }
`;
