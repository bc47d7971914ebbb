import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ProviderEmailEvent } from '../../domain/email/events.ts';
import { readReturned } from '../../providers/smtp/reports.ts';

const read = (raw: string, encoding: BufferEncoding = 'latin1'): ProviderEmailEvent[] =>
  readReturned({
    ...{ returnPath: 'b-1@x.example', emailId: 'em_1', sender: '' },
    ...{ raw: Buffer.from(raw, encoding), bytes: raw.length },
  });

const withFailed = (recipients: string) => `X-Failed-Recipients: ${recipients}\r\n\r\nno`;

const report = (groups: string[], type = 'message/delivery-status') =>
  [
    'Content-Type: multipart/report; report-type=delivery-status; boundary=b\r\n',
    `--b\r\nContent-Type: ${type}\r\n`,
    ['Reporting-MTA: dns; x.example', ...groups].join('\r\n\r\n'),
    '--b--\r\n',
  ].join('\r\n');

describe('an address in a field', () => {
  // As it stood here before: it takes time by the square of what has no @ in it.
  const ADDRESS = /[^\s<>,;:"]+@[^\s<>,;:"]+/;
  const ends = fc.constantFrom(...'<>,;:"');
  const blanks = fc.constantFrom(' ', '\t', '\xa0');
  const letters = fc.constantFrom('a', 'b.c', '\xe9', '-', "'", '(', '=');
  const text = fc
    .array(fc.oneof(letters, fc.constant('@'), ends, blanks), { maxLength: 30 })
    .map((pieces) => pieces.join(''));

  it('is the first word with an @ in it that is neither its beginning nor its end', () => {
    fc.assert(
      fc.property(text, (given) => {
        const [event] = read(withFailed(`x${given}`));
        const expected = `x${given}`
          .trim()
          .split(',')
          .flatMap((one) => ADDRESS.exec(one)?.[0] ?? []);
        expect(event!.addresses).toEqual(expected);
      }),
      { numRuns: 5_000 },
    );
  });

  it.each([
    ['jan@x.example', ['jan@x.example']],
    ['Jan <jan@x.example>', ['jan@x.example']],
    ['"@" <jan@x.example>', ['jan@x.example']],
    ['@ a@ @b a@b c@d', ['a@b']],
    ['@@@', ['@@@']],
    ['@@ jan', []],
    ['a@b@', ['a@b@']],
  ])('%s has %j', (given, addresses) => {
    expect(read(withFailed(given))).toMatchObject([{ addresses }]);
  });

  it('is found as well in a report as beside one', () => {
    fc.assert(
      fc.property(text, (given) => {
        const field = given.replace(/^[^;@]*;/, '');
        const found = ADDRESS.exec(field)?.[0];
        const group = `Final-Recipient: rfc822;${given}\r\nAction: delivered`;
        expect(read(report([group]), 'utf8').flatMap(({ addresses }) => addresses)).toEqual(
          found === undefined ? [] : [found],
        );
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('what somebody wrote to hold a worker up', () => {
  const LONG = 'a'.repeat(640);
  const GROUPS = Array.from({ length: 66_000 }, () => 'Action:failed');
  const LONG_GROUPS = Array.from(
    { length: 770 },
    () => `Final-Recipient: rfc822;${LONG}\r\nOriginal-Recipient: rfc822;${LONG}\r\nAction: failed`,
  );
  const OF_RECIPIENTS = withFailed(`${'a'.repeat(319)},`.repeat(3_200));
  const MANY_RECIPIENTS = withFailed('a@b,'.repeat(260_000));

  // The same octets where nobody looks for anything in them.
  const idle = (raw: string) =>
    raw.replace('message/delivery-status', 'text/plain').replace('X-Failed-Recipients', 'X-Other-Recipients');

  it.each([
    ['66,000 groups', report(GROUPS), 100, 0],
    ['770 long addresses without an @', report(LONG_GROUPS), 100, 0],
    ['a megabyte of such recipients', OF_RECIPIENTS, 1, 0],
    ['a megabyte of recipients', MANY_RECIPIENTS, 1, 100],
  ])('%s is read as quickly as anything of its size', (_, raw, events, addresses) => {
    const found = read(raw);
    expect(found).toHaveLength(events);
    expect(found.flatMap((event) => event.addresses)).toHaveLength(addresses);
    // One of some pairs shows it, as others use the machine too: what grew with the square took fifty times as long.
    const isQuick = () => durationOf(() => read(raw)) < 4 * durationOf(() => read(idle(raw)));
    expect(Array.from({ length: 15 }, (_, i) => i).some(isQuick)).toBe(true);
  });
});

describe('a megabyte that stands for much work', () => {
  const MEGABYTE = 1_000_000;
  const multipart = (boundary: string) => `Content-Type: multipart/mixed; boundary=${boundary}\n\n`;
  const NESTED = ['a', 'b', 'c', 'd'].map((name) => `${multipart(name)}--${name}\n`).join('');
  const filled = (start: string, filling: string) =>
    start + filling.repeat(Math.floor((MEGABYTE - start.length) / filling.length));
  const LINES = '\n'.repeat(MEGABYTE);
  const group = `${multipart('b')}--b\nContent-Type: message/delivery-status\n\n`;

  it.each([
    ['line ends within multiparts', filled(`${NESTED}\n`, '\n')],
    ['borders within multiparts', filled(`${NESTED}\n`, '\n--d')],
    ['folds of a header', filled('a:b\n', ' c\n')],
    ['lines of a report', filled(group, 'a:\n')],
    ['groups of many lines', filled(`${group}a:b\n\n`, `${'a:\n'.repeat(150)}\n`)],
    ['encoded letters', filled('Content-Transfer-Encoding: quoted-printable\n\n', '=41')],
  ])('of %s takes less than to find its lines once', (_, raw) => {
    const isQuick = () => durationOf(() => read(raw)) < durationOf(() => LINES.split(/\r?\n/));
    expect(Array.from({ length: 15 }, (_unused, i) => i).some(isQuick)).toBe(true);
  });

  it('of a name in each report of many takes no work for each', () => {
    const [event] = read(filled(`${group}Reporting-MTA: ${'x'.repeat(200_000)}\n\n`, 'Action: failed\n\n'));
    expect(event).toMatchObject({ kind: 'bounced', payload: { 'reporting-mta': 'x'.repeat(1_000) } });
  });
});

function durationOf(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}
