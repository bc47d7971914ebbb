import type { Accepting } from '../accept.ts';
import type { Compared } from '../compare.ts';
import { figure, sum, table } from './markdown.ts';

/** Not of what is compared: the load, the SMSC and the receiver. */
export const AROUND = ['load', 'smsc', 'receiver'];

/** Messages per second, and how long accepting takes at half of that. */
export function rateTable(compared: Compared[]): string {
  return table(
    ['', 'messages/s', 'rounds', 'accepted by at half load, median ms', '99 % ms', 'sent again'],
    compared.map(({ title, middle: { saturated, half }, rounds }) => [
      title,
      figure(saturated.perSecond),
      rounds.map((round) => figure(round.saturated.perSecond)).join(' '),
      figure(half?.accept.median),
      figure(half?.accept.p99),
      String(saturated.refused),
    ]),
  );
}

/** CPU milliseconds of every process for a message. */
export function cpuTable(compared: Compared[]): string {
  const names = [...new Set(compared.flatMap(({ middle }) => Object.keys(middle.saturated.cpuMs)))];
  const own = names.filter((name) => !AROUND.includes(name));
  return table(
    ['', ...own, 'together', 'load, SMSC and receiver'],
    compared.map(({ title, middle: { saturated } }) => {
      const of = (some: string[]): number =>
        sum(Object.fromEntries(some.map((name) => [name, saturated.cpuMs[name] ?? 0])));
      return [
        title,
        ...own.map((name) => figure(saturated.cpuMs[name])),
        figure(of(own)),
        figure(of(AROUND)),
      ];
    }),
  );
}

/** What a message leaves behind and asks of the stores. */
export function costTable(compared: Compared[]): string {
  return table(
    [
      ...['', 'history events', 'history bytes', 'state transitions', 'SQL API', 'SQL worker', 'SQL ms'],
      ...['tables B', 'WAL B', 'Temporal B', 'Redis B'],
    ],
    compared.map(({ title, middle: { saturated } }) => [
      title,
      figure(saturated.history?.events),
      figure(saturated.history?.bytes),
      figure(saturated.history?.stateTransitions),
      figure(saturated.statements['api']),
      figure(saturated.statements['worker']),
      figure(sum(saturated.statementMs)),
      ...[saturated.bytes.tables, saturated.bytes.log, saturated.bytes.temporal, saturated.bytes.extra].map(
        figure,
      ),
    ]),
  );
}

/** One request beside the bare update-with-start. */
export function acceptTable({ singles }: Accepting): string {
  return table(
    [
      '',
      'at once',
      'median ms',
      '95 % ms',
      '99 % ms',
      'requests/s',
      '× median',
      '× requests/s',
      'sent again',
    ],
    singles.flatMap(({ inFlight, bare, product }) =>
      [
        { name: 'bare update-with-start', timing: bare, refused: 0 },
        { name: 'POST /v1/messages', timing: product, refused: product.refused },
      ].map(({ name, timing, refused }) => [
        name,
        String(inFlight),
        ...[timing.median, timing.p95, timing.p99, timing.perSecond].map(figure),
        figure(timing.median / bare.median),
        figure(timing.perSecond / bare.perSecond),
        String(refused),
      ]),
    ),
  );
}

/** CPU milliseconds of every process for a single message, by requests open at once. */
export function acceptCpuTable({ singles }: Accepting): string {
  const names = [...new Set(singles.flatMap(({ product }) => Object.keys(product.cpuMs)))];
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
