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
  ],
  'test/coverage-1.2.md': [
    ...['What the service does', 'Resources and their fields', 'States and transitions'],
    ...['Endpoints', 'Authentication', 'Events', 'Errors'],
    ...['Limits', 'Versioning'],
  ],
};

/** One line: what the interface says, and the tests that hold it. */
interface Row {
  line: number;
  section: string;
  rule: string;
  proof: string;
}

const REFERENCE = /^`([^`]+)` › (.+)$/s;
/** How a file of `npm run test:deep` ends: `npm test` runs none of them, and has to hold every rule. */
const DEEP = '.deep';
const REASON = /^(?:by design|not built): \S.{9,}$/s;
// A test's name may hold a semicolon: only what begins a proof divides.
const BETWEEN = /; (?=`|by design:|not built:)/;
const BETWEEN_NAMES = ' | ';
/** Ends the beginning of a test's name, which has to be that of one test alone. */
const MORE = '…';

const namesOf = remembering((file: string) => (existsSync(file) ? testNames(file) : null));

describe.each(Object.entries(SECTIONS))('%s', (file, sections) => {
  const rows = readRows(readFileSync(file, 'utf8'));

  test.each(sections)('has rows for “%s”', (section) => {
    expect(rows.filter((row) => row.section === section)).not.toEqual([]);
  });

  test('says of every rule which tests hold it, or why none can', () => {
    expect(rows.flatMap((row) => faultsOf(row).map((fault) => `${file}:${row.line} ${fault}`))).toEqual([]);
  });

  test('says nothing twice', () => {
    const rules = rows.map(({ section, rule }) => `${section}: ${rule}`);
    expect(rules.filter((rule, index) => rules.indexOf(rule) !== index)).toEqual([]);
  });
});

describe('this check', () => {
  const row = (proof: string): Row => ({ line: 1, section: 'Message', rule: 'id', proof });
  const known = '`docs/coverage` › finds what is wrong';

  test('finds what is wrong', () => {
    for (const proof of [
      known,
      `${known}; ${known}; by design: nobody could tell`,
      '`docs/coverage` › finds what is… | wants of every…',
      '`docs/coverage` › this check › finds…',
    ])
      expect(faultsOf(row(proof)), proof).toEqual([]);
    for (const proof of [
      '',
      'see the tests',
      'by design: ',
      '`docs/nothing` › x',
      '`docs/coverage` › ',
      '`docs/coverage` › …',
      '`docs/coverage` › finds nothing…',
      '`docs/coverage` › finds what is wrong | finds nothing',
      known.slice(0, -1),
    ])
      expect(faultsOf(row(proof)), proof).toHaveLength(1);
    expect(faultsOf({ ...row(known), rule: '' })).toHaveLength(1);
  });

  test('wants of every rule a test that `npm test` runs', () => {
    const deep = '`start/stop.deep` › ends npm start and its servers within the grace while these hang';
    expect(faultsOf(row(`${known}; ${deep}`))).toEqual([]);
    for (const proof of [deep, `${deep}; ${deep}`, `${deep}; by design: nobody could tell`])
      expect(faultsOf(row(proof)), proof).toEqual(['is held by deep tests alone']);
  });
});

function faultsOf({ rule, proof }: Row): string[] {
  if (rule === '') return ['has no rule'];
  const proofs = proof.split(BETWEEN);
  const files = proofs.flatMap((one) => REFERENCE.exec(one)?.[1] ?? []);
  const onlyDeep =
    files.length > 0 && files.every((file) => file.endsWith(DEEP)) ? ['is held by deep tests alone'] : [];
  return [...onlyDeep, ...proofs.flatMap(faultsOfProof)];
}

function faultsOfProof(one: string): string[] {
  if (REASON.test(one)) return [];
  const [, short, names = ''] = REFERENCE.exec(one) ?? [];
  if (short === undefined) return [`is neither a test nor a reason: “${one}”`];
  const file = `test/${short}.test.ts`;
  const known = namesOf(file);
  if (known === null) return [`there is no ${file}`];
  return names.split(BETWEEN_NAMES).flatMap((name) => faultsOfName(file, known, name));
}

function faultsOfName(file: string, known: ReadonlySet<string>, name: string): string[] {
  if (known.has(name)) return [];
  if (!name.endsWith(MORE) || name === MORE) return [`${file} has no test “${name}”`];
  const beginning = name.slice(0, -MORE.length);
  const count = [...known].filter((one) => one.startsWith(beginning)).length;
  return count === 1 ? [] : [`${file} has ${count} tests that begin “${beginning}”`];
}

function readRows(markdown: string): Row[] {
  const found: Row[] = [];
  let section = '';
  markdown.split('\n').forEach((text, index) => {
    section = /^##+ (.+)$/.exec(text)?.[1] ?? section;
    const [, content] = /^- (.*)$/.exec(text) ?? [];
    if (content === undefined || section === '') return;
    const [rule = '', proof = ''] = content.split(' ⇐ ').map((half) => half.trim());
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
