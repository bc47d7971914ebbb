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

/** Messages per second, and what a message leaves behind, asks of PostgreSQL, and costs each process in CPU milliseconds. */
export function compareTable(compared: Compared[]): string {
  const names = [...new Set(compared.flatMap(({ middle }) => Object.keys(middle.cpuMs)))];
  const sum = (values: Record<string, number>): number =>
    Object.values(values).reduce((total, value) => total + value, 0);
  return table(
    ['', 'messages/s', 'history events', 'state transitions', 'SQL', ...names, 'together'],
    compared.map(({ title, rounds, middle: { perSecond, history, statements, cpuMs } }) => {
      const all = rounds.length > 1 ? ` (${rounds.map((round) => figure(round.perSecond)).join(' ')})` : '';
      return [
        title,
        `${figure(perSecond)}${all}`,
        ...[history.events, history.stateTransitions, sum(statements)].map(figure),
        ...[...names.map((name) => cpuMs[name]), sum(cpuMs)].map(figure),
      ];
    }),
  );
}

/** One request beside the bare update-with-start, by requests open at once. */
export function acceptTable({ singles }: Accepting): string {
  const bareColumns = ['bare: median ms', 'requests/s'];
  const columns = ['median ms', '99 % ms', 'requests/s', '× median', '× requests/s', 'API CPU ms'];
  return table(
    ['at once', ...bareColumns, ...columns],
    singles.map(({ inFlight, bare, product: { median, p99, perSecond, cpuMs } }) => {
      const ratios = [median / bare.median, perSecond / bare.perSecond];
      return [
        String(inFlight),
        ...[bare.median, bare.perSecond, median, p99, perSecond, ...ratios, cpuMs['api']].map(figure),
      ];
    }),
  );
}

/** Five hundred recipients beside ten single ones. */
export function batchTable({ batch }: Accepting): string {
  return table(
    ['', 'one request of 500', 'ten of one, in turn', 'at once'],
    [['ms', ...[batch.of500, batch.tenInTurn, batch.tenAtOnce].map(figure)]],
  );
}

/** Milliseconds from the request to the submit. */
export function floodTable({ idle, flooded }: FloodResult): string {
  return table(
    ['', 'median ms', '99 % ms'],
    [
      { what: 'without the flood', of: idle },
      { what: 'during it', of: flooded },
    ].map(({ what, of: { median, p99 } }) => [what, figure(median), figure(p99)]),
  );
}

/** Accepting by API processes. */
export function apisTable(apis: AcceptedByApis[]): string {
  return table(
    ['APIs', 'accepted/s', 'median ms', '99 % ms', 'API CPU ms'],
    apis.map((one) => [String(one.apis), ...[one.perSecond, one.median, one.p99, one.cpuMs].map(figure)]),
  );
}
