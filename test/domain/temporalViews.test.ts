import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { TEMPORAL_VIEW_NAMES, temporalView, temporalWorkflow } from '../../domain/temporalViews.ts';

const UI = { url: 'http://localhost:8233', namespace: 'default' };

test('ops/temporal/queries.md lists each view, with its link', () => {
  const page = readFileSync(new URL('../../ops/temporal/queries.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| \[(.+?)\]\((\S+)\)\s*\| `(.+?)`\s*\|$/gm)];
  const listed = rows.map(([, question, link = '', query]) => ({
    question,
    query,
    link: new URL(link).href,
  }));
  // What is to be filled stays as it is.
  const blanks = Object.fromEntries(
    ['ACCOUNT', 'REQUEST', 'ROUTE', 'TIME', 'FROM', 'TO'].map((of) => [of, `$${of}`]),
  );
  const views = TEMPORAL_VIEW_NAMES.map((name) => temporalView(UI, name, blanks as never));
  expect(listed).toEqual(views.map(({ link, ...view }) => ({ ...view, link: new URL(link).href })));
});

test('a view is filled, and leads to a namespace', () => {
  const { query, link } = temporalView({ url: 'https://t.example/ui', namespace: 'goniec.a1' }, 'queued', {
    ROUTE: 'plus',
  });
  expect(query).toBe('MessageStatus = "queued" AND Route = "plus" AND ExecutionStatus = "Running"');
  expect(link.startsWith('https://t.example/ui/namespaces/goniec.a1/workflows?query=MessageStatus%20')).toBe(
    true,
  );
  expect(new URL(link).searchParams.get('query')).toBe(query);
  expect(temporalWorkflow(UI, 'msg_1')).toBe('http://localhost:8233/namespaces/default/workflows/msg_1');
});
