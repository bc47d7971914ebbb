import { html, type Html } from '../html.ts';

const PIECES = /(`[^`]+`|\*\*[^*]+\*\*)/;

/** Renders the CommonMark of our descriptions: paragraphs, code in backticks, bold. */
export function prose(text: string): Html {
  const paragraphs = text.split('\n\n').filter((paragraph) => paragraph !== '');
  return html`${paragraphs.map((paragraph) => html`<p>${paragraph.split(PIECES).map(inline)}</p>`)}`;
}

function inline(piece: string): Html {
  if (/^`[^`]+`$/.test(piece)) return html`<code>${piece.slice(1, -1)}</code>`;
  if (/^\*\*[^*]+\*\*$/.test(piece)) return html`<strong>${piece.slice(2, -2)}</strong>`;
  return html`${piece}`;
}
