import type { Accepting } from '../accept.ts';
import type { AcceptedByApis } from '../apis.ts';
import type { Compared } from '../compare.ts';
import type { FloodResult } from '../flood.ts';
import { figure, table } from './markdown.ts';

/** Everything that a run found, by part; parts that were not asked for are absent. */
export interface Results {
  compare?: Compared[];
  accept?: Accepting;
  flood?: FloodResult;
  apis?: AcceptedByApis[];
}

/** Not of what is compared. */
const OUTSIDE = ['load', 'smsc', 'receiver'];

/** Messages per second, and what a message leaves behind and asks of PostgreSQL. */
export function rateTable(compared: Compared[]): string {
  return table(
    [
      ...['', 'messages/s', 'rounds', 'history events', 'history bytes', 'state transitions'],
      ...['SQL statements, API', 'worker'],
    ],
    compared.map(({ title, middle, rounds }) => [
      title,
      figure(middle.perSecond),
      rounds.map(({ perSecond }) => figure(perSecond)).join(' '),
      ...[middle.history.events, middle.history.bytes, middle.history.stateTransitions].map(figure),
      ...[middle.statements['api'], middle.statements['worker']].map(figure),
    ]),
  );
}

/** CPU milliseconds of every process for a message. */
export function cpuTable(compared: Compared[]): string {
  const names = [...new Set(compared.flatMap(({ middle }) => Object.keys(middle.cpuMs)))];
  const own = names.filter((name) => !OUTSIDE.includes(name));
  return table(
    ['', ...own, 'together', 'load, SMSC and receiver'],
    compared.map(({ title, middle: { cpuMs } }) => {
      const sum = (some: string[]): number => some.reduce((total, name) => total + (cpuMs[name] ?? 0), 0);
      return [title, ...own.map((name) => figure(cpuMs[name])), figure(sum(own)), figure(sum(OUTSIDE))];
    }),
  );
}

/** One request beside the bare update-with-start. */
export function acceptTable({ singles }: Accepting): string {
  return table(
    ['', 'at once', 'median ms', '99 % ms', 'requests/s', '× median', '× requests/s'],
    singles.flatMap(({ inFlight, bare, product }) =>
      [
        { name: 'bare update-with-start', timing: bare },
        { name: 'POST /v1/messages', timing: product },
      ].map(({ name, timing: { median, p99, perSecond } }) => [
        name,
        String(inFlight),
        ...[median, p99, perSecond, median / bare.median, perSecond / bare.perSecond].map(figure),
      ]),
    ),
  );
}

/** CPU milliseconds of every process for a single message, by requests open at once. */
export function acceptCpuTable({ singles }: Accepting): string {
  const names = Object.keys(singles[0]!.product.cpuMs);
  return table(
    ['at once', ...names],
    singles.map(({ inFlight, product }) => [
      String(inFlight),
      ...names.map((name) => figure(product.cpuMs[name])),
    ]),
  );
}

/** Five hundred recipients beside ten single ones. */
export function batchTable({ batch }: Accepting): string {
  return table(
    ['', 'ms'],
    [
      ['one request of 500 recipients', figure(batch.of500)],
      ['ten requests of one, one after the other', figure(batch.tenInTurn)],
      ['ten requests of one, all at once', figure(batch.tenAtOnce)],
    ],
  );
}

/** Milliseconds from the request to the submit. */
export function floodTable({ idle, flooded }: FloodResult): string {
  return table(
    ['milliseconds from request to submit', 'median', '99 %', 'last'],
    [
      { what: 'single messages, nothing else happens', of: idle },
      { what: "single messages during another account's flood", of: flooded },
    ].map(({ what, of }) => [what, figure(of.median), figure(of.p99), figure(of.last)]),
  );
}

/** Accepting by API processes. */
export function apisTable(apis: AcceptedByApis[]): string {
  return table(
    ['APIs', 'accepted/s', 'median ms', '99 % ms', 'CPU ms of the APIs for a message'],
    apis.map((one) => [String(one.apis), ...[one.perSecond, one.median, one.p99, one.cpuMs].map(figure)]),
  );
}
