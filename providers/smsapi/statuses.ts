import { isFinalReport, type ReportState } from '../../domain/deliveryReports.ts';

/**
 * The provider's list of delivery statuses (https://www.smsapi.pl/docs/#18-lista-statusow-doreczenia). `UNKNOWN` means
 * delivered or not, nobody knows; `NOT_FOUND`, that the report has gone: neither ends a message.
 */
const STATES: Readonly<Record<string, readonly [name: string, state: ReportState]>> = {
  '401': ['NOT_FOUND', 'unknown'],
  '402': ['EXPIRED', 'expired'],
  '403': ['SENT', 'enroute'],
  '404': ['DELIVERED', 'delivered'],
  '405': ['UNDELIVERED', 'undelivered'],
  '406': ['FAILED', 'rejected'],
  '407': ['REJECTED', 'rejected'],
  '408': ['UNKNOWN', 'unknown'],
  '409': ['QUEUE', 'enroute'],
  '410': ['ACCEPTED', 'accepted'],
  '411': ['RENEWAL', 'enroute'],
  '412': ['STOP', 'deleted'],
};

const STATE_OF = new Map(
  Object.entries(STATES).flatMap(([code, [name, state]]) => [[code, state] as const, [name, state] as const]),
);

/** What a status means, given by its number or its name; null when it is not on the provider's list. */
export function stateOf(status: string): ReportState | null {
  return STATE_OF.get(status.trim().toUpperCase()) ?? null;
}

/** The same, where it ends the message; null otherwise. */
export function finalStateOf(status: string): ReportState | null {
  const state = stateOf(status);
  return state !== null && isFinalReport(state) ? state : null;
}
