import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const ENGLISH =
  /\b(?:the|is|are|not|must|have|of|and|may|account|request|field|invalid|missing|unknown|too)\b/i;

it('every sentence of a refusal is Polish', () => {
  const source = readFileSync('api/http/texts.ts', 'utf8');
  const texts = [...source.matchAll(/(['`])((?:(?!\1)[^\n])*)\1/g)]
    .map((match) => match[2]!)
    .filter((text) => /\s/.test(text));
  expect(texts.length).toBeGreaterThan(100);
  expect(texts.filter((text) => ENGLISH.test(text.replace(/\$\{[^}]*\}/g, '')))).toEqual([]);
});
