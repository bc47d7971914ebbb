import type { ProviderEmailEvent } from '../../domain/email/statuses.ts';
import { readReturned } from '../../providers/smtp/reports.ts';

/** Reads a message that came back. */
export const read = (raw: string, encoding: BufferEncoding = 'latin1'): ProviderEmailEvent[] =>
  readReturned({
    ...{ returnPath: 'b-1@x.example', emailId: 'em_1', sender: '' },
    ...{ raw: Buffer.from(raw, encoding), bytes: raw.length },
  });

/** A bounce that names recipients in a field of its head. */
export const withFailed = (recipients: string) => `X-Failed-Recipients: ${recipients}\r\n\r\nno`;

/** A report with these groups of fields. */
export const report = (groups: string[], type = 'message/delivery-status') =>
  [
    'Content-Type: multipart/report; report-type=delivery-status; boundary=b\r\n',
    `--b\r\nContent-Type: ${type}\r\n`,
    ['Reporting-MTA: dns; x.example', ...groups].join('\r\n\r\n'),
    '--b--\r\n',
  ].join('\r\n');

const LONG = 'a'.repeat(640);
const GROUPS = Array.from({ length: 66_000 }, () => 'Action:failed');
const LONG_GROUPS = Array.from(
  { length: 770 },
  () => `Final-Recipient: rfc822;${LONG}\r\nOriginal-Recipient: rfc822;${LONG}\r\nAction: failed`,
);
const OF_RECIPIENTS = withFailed(`${'a'.repeat(319)},`.repeat(3_200));
const MANY_RECIPIENTS = withFailed('a@b,'.repeat(260_000));

/** What somebody wrote to hold a worker up: its events and their addresses are as many as are kept. */
export const ENDLESS: [name: string, raw: string, events: number, addresses: number][] = [
  ['66,000 groups', report(GROUPS), 100, 0],
  ['770 long addresses without an @', report(LONG_GROUPS), 100, 0],
  ['a megabyte of such recipients', OF_RECIPIENTS, 1, 0],
  ['a megabyte of recipients', MANY_RECIPIENTS, 1, 100],
];

const MEGABYTE = 1_000_000;
export const multipart = (boundary: string): string =>
  `Content-Type: multipart/mixed; boundary=${boundary}\n\n`;
/** The beginning of a report within another message. */
export const GROUP = `${multipart('b')}--b\nContent-Type: message/delivery-status\n\n`;
/** A megabyte that begins so, and goes on with this for ever. */
export const filled = (start: string, filling: string): string =>
  start + filling.repeat(Math.floor((MEGABYTE - start.length) / filling.length));
