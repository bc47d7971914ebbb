import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { testNames } from './testNames.ts';

/** Headings by file: every part of the interface's description has to be there. */
const SECTIONS = {
  'test/coverage.md': [
    'What the service does',
    'Resources and their fields',
    'Message',
    'BatchResult',
    'Account',
    'Template',
    'HlrResult',
    'BlacklistEntry',
    'Contact',
    'Group',
    'InboundMessage',
    'TrackedLink',
    'Sender list item',
    'WebhookEvent',
    'States and transitions',
    'Send',
    'Cancelling',
    'History and status',
    'Templates',
    'Number lookup',
    'Account and senders',
    'Blacklist and opt-out',
    'Inbound replies',
    'Tracked links',
    'Contacts',
    'Groups',
    'Health',
    'Other',
    'Authentication',
    'Events',
    'Errors',
    'Limits',
    'Prices',
    'Versioning',
    'Beyond the interface',
  ],
  'test/coverage-1.2.md': [
    ...['What the service does', 'Resources and their fields', 'States and transitions'],
    ...['Endpoints', 'Authentication', 'Events', 'Errors'],
    ...['Limits', 'Versioning'],
  ],
};

/** One line of a table: what the interface says, and where it is proven. */
interface Row {
  line: number;
  section: string;
  rule: string;
  proof: string;
}

const REFERENCE = /^(test\/\S+\.ts) › (.+)$/s;
/** How a file of `npm run test:deep` ends: `npm test` runs none of them, and has to hold every rule. */
const DEEP = '.deep.test.ts';
const REASON = /^(?:by design|not built): \S.{9,}$/s;
// A test's name may hold a semicolon: only what begins a proof divides.
const BETWEEN = /;\s*(?=`*test\/|by design:|not built:)/;

const namesOf = remembering((file: string) => (existsSync(file) ? testNames(file) : null));

describe.each(Object.entries(SECTIONS))('%s', (file, sections) => {
  const rows = readRows(readFileSync(file, 'utf8'));

  test.each(sections)('has rows for “%s”', (section) => {
    expect(rows.filter((row) => row.section === section)).not.toEqual([]);
  });

  test('says of every rule where it is proven, or why it cannot be', () => {
    expect(rows.flatMap((row) => faultsOf(row).map((fault) => `${file}:${row.line} ${fault}`))).toEqual([]);
  });

  test('says nothing twice', () => {
    const rules = rows.map(({ section, rule }) => `${section}: ${rule}`);
    expect(rules.filter((rule, index) => rules.indexOf(rule) !== index)).toEqual([]);
  });
});

describe('this check', () => {
  const row = (proof: string): Row => ({ line: 1, section: 'Message', rule: 'id', proof });
  const known = '`test/docs/coverage.test.ts › finds what is wrong`';

  test('finds what is wrong', () => {
    expect(faultsOf(row(known))).toEqual([]);
    expect(faultsOf(row(`${known}; ${known}; by design: nobody could tell`))).toEqual([]);
    for (const proof of [
      '',
      'see the tests',
      'by design: ',
      '`test/docs/nothing.test.ts › x`',
      known.slice(0, -2) + '`',
    ])
      expect(faultsOf(row(proof)), proof).toHaveLength(1);
    expect(faultsOf({ ...row(known), rule: '' })).toHaveLength(1);
  });

  test('wants of every rule a test that `npm test` runs', () => {
    const deep =
      '`test/start/stop.deep.test.ts › ends npm start and its servers within the grace while these hang`';
    expect(faultsOf(row(`${known}; ${deep}`))).toEqual([]);
    for (const proof of [deep, `${deep}; ${deep}`, `${deep}; by design: nobody could tell`])
      expect(faultsOf(row(proof)), proof).toEqual(['is held by deep tests alone']);
  });

  test('reads tables: heading, escaped bars, the last column as the proof', () => {
    const text = '# Coverage\n\n## Errors\n\n| rule | proof |\n| --- | --- |\n| a \\| b | c |\n|  |  |\n';
    expect(readRows(text)).toEqual([
      { line: 7, section: 'Errors', rule: 'a | b', proof: 'c' },
      { line: 8, section: 'Errors', rule: '', proof: '' },
    ]);
  });
});

function faultsOf({ rule, proof }: Row): string[] {
  if (rule === '') return ['has no rule'];
  const proofs = proof.split(BETWEEN);
  const files = proofs.flatMap((one) => referenceOf(one)?.file ?? []);
  const onlyDeep =
    files.length > 0 && files.every((file) => file.endsWith(DEEP)) ? ['is held by deep tests alone'] : [];
  return [...onlyDeep, ...proofs.flatMap(faultsOfProof)];
}

function referenceOf(proof: string): { file: string; name: string } | null {
  const [, file, name] = REFERENCE.exec(proof.replace(/^`+|`+$/g, '').trim()) ?? [];
  return file === undefined || name === undefined ? null : { file, name };
}

function faultsOfProof(one: string): string[] {
  if (REASON.test(one)) return [];
  const found = referenceOf(one);
  if (found === null) return [`is neither a test nor a reason: “${one}”`];
  const { file, name } = found;
  const names = namesOf(file);
  if (names === null) return [`there is no ${file}`];
  return names.has(name) ? [] : [`${file} has no test “${name}”`];
}

function readRows(markdown: string): Row[] {
  const found: Row[] = [];
  let section = '';
  let head = true;
  markdown.split('\n').forEach((text, index) => {
    section = /^##+ (.+)$/.exec(text)?.[1] ?? section;
    if (!text.startsWith('|')) {
      head = true;
      return;
    }
    if (/^\|[\s:|-]+\|$/.test(text) && text.includes('-')) {
      head = false;
      return;
    }
    if (head) return;
    const cells = text.replace(/^\||\|\s*$/g, '').split(/(?<!\\)\|/);
    const [rule = '', proof = ''] = cells.slice(-2).map((cell) => cell.trim().replaceAll('\\|', '|'));
    found.push({ line: index + 1, section, rule, proof });
  });
  return found;
}

function remembering<T>(look: (key: string) => T): (key: string) => T {
  const known = new Map<string, T>();
  return (key) => {
    if (!known.has(key)) known.set(key, look(key));
    return known.get(key)!;
  };
}
