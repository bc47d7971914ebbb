/** A Markdown table; the first column holds words, all others numbers. */
export function table(head: string[], rows: string[][]): string {
  const line = (cells: string[]): string => `| ${cells.join(' | ')} |`;
  const rule = line(head.map((_, index) => (index === 0 ? '---' : '---:')));
  return [line(head), rule, ...rows.map(line)].join('\n');
}

/** A number with so many digits that three count; '–' for what was not measured. */
export function figure(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return '–';
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return grouped(value.toFixed(digits));
}

/** Whole thousands apart: 10,000. */
export function grouped(text: string): string {
  const [whole = '', rest] = text.split('.');
  const apart = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return rest === undefined ? apart : `${apart}.${rest}`;
}

/** The sum of all values. */
export function sum(values: Record<string, number>): number {
  return Object.values(values).reduce((total, value) => total + value, 0);
}
