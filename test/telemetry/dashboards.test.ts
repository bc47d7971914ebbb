import { expect, test } from 'vitest';
import { alertRules, dashboardPanels } from './queries.ts';

test('panels have names and ids of their own and do not lie upon each other', () => {
  const panels = dashboardPanels();
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  expect(new Set(panels.map(({ title }) => title)).size).toBe(panels.length);
  const taken = new Set<string>();
  for (const { title, gridPos } of panels) {
    expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
        expect(taken.has(`${x}/${y}`), title).toBe(false);
        taken.add(`${x}/${y}`);
      }
    }
  }
});

test('every alert has a name of its own, a severity and a sentence', () => {
  const rules = alertRules();
  expect(new Set(rules.map(({ name }) => name)).size).toBe(rules.length);
  for (const { severity, summary } of rules) {
    expect(severity).toMatch(/^(page|ticket)$/);
    expect(summary.length).toBeGreaterThan(20);
  }
});
