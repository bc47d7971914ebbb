import type { VNode } from 'preact';

const PIECES = /(`[^`]+`|\*\*[^*]+\*\*)/;

/** Renders the CommonMark of our descriptions: paragraphs, code in backticks, bold. */
export function Prose({ text = '' }: { text: string | undefined }): VNode {
  const paragraphs = text.split('\n\n').filter((paragraph) => paragraph !== '');
  return (
    <>
      {paragraphs.map((paragraph) => (
        <p>{paragraph.split(PIECES).map(inline)}</p>
      ))}
    </>
  );
}

function inline(piece: string): VNode | string {
  if (/^`[^`]+`$/.test(piece)) return <code>{piece.slice(1, -1)}</code>;
  if (/^\*\*[^*]+\*\*$/.test(piece)) return <strong>{piece.slice(2, -2)}</strong>;
  return piece;
}
