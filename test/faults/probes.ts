import { setTimeout as delay } from 'node:timers/promises';
import { type Account, headersOf, type Planned, PROBE_TAG, type Told } from '../crash/load.ts';

/** One answer as a client saw it; status 0 where none came. */
export interface Probe {
  at: number;
  ms: number;
  status: number;
}

/** Requests that are made again and again while something is wrong. */
export interface Probes {
  /** Of `GET /v1/account`. */
  reads: Probe[];
  /** Of `POST /v1/messages` with one message for tomorrow: never repeated. */
  sends: Probe[];
  /** Those that were accepted. */
  told: Told[];
  stop(): Promise<void>;
}

const PAUSE_MS = 250;
const PATIENCE_MS = 20_000;
const TOMORROW_S = 86_400;

/**
 * Begins to ask.
 * @param name makes their tags different from those of other probes
 */
export function startProbes(apiUrl: string, account: Account, name: string): Probes {
  const reads: Probe[] = [];
  const sends: Probe[] = [];
  const told: Told[] = [];
  let stopped = false;
  const ask = async (into: Probe[], path: string, init: RequestInit): Promise<string> => {
    const at = Date.now();
    const { status, text } = await fetch(apiUrl + path, {
      ...init,
      headers: { ...headersOf(account), ...(init.headers as Record<string, string> | undefined) },
      signal: AbortSignal.timeout(PATIENCE_MS),
    })
      .then(async (response) => ({ status: response.status, text: await response.text() }))
      .catch(() => ({ status: 0, text: '' }));
    into.push({ at, ms: Date.now() - at, status });
    await delay(PAUSE_MS);
    return status === 201 ? text : '';
  };
  const read = async (path: string): Promise<void> => {
    while (!stopped) await ask(reads, path, {});
  };
  const send = async (): Promise<void> => {
    for (let number = 1; !stopped; number += 1) {
      const request = requestFor(`${PROBE_TAG}-${name}-${number}`);
      const body = bodyOf(request);
      const headers = { 'idempotency-key': request.tag };
      const answer = await ask(sends, '/v1/messages', { method: 'POST', body, headers });
      if (answer === '') continue;
      const message = JSON.parse(answer) as Told['messages'][number];
      told.push({ request, body, status: 201, messages: [message] });
    }
  };
  const asking = Promise.all([read('/v1/account'), read('/v1/messages?limit=5'), send()]);
  return {
    reads,
    sends,
    told,
    async stop() {
      stopped = true;
      await asking;
    },
  };
}

function requestFor(tag: string): Planned {
  return {
    tag,
    payer: 'probing',
    recipients: ['+48512000500'],
    single: true,
    text: 'Jutro',
    scheduled: TOMORROW_S,
    cancel: false,
  };
}

function bodyOf({ tag, recipients, text, scheduled }: Planned): string {
  const sendAt = new Date(Date.now() + scheduled! * 1000).toISOString();
  return JSON.stringify({ to: recipients[0], text, reference: tag, send_at: sendAt });
}

/** In words: how many answers of which status, and the slowest. */
export function summary(probes: readonly Probe[]): string {
  const counts = new Map<number, number>();
  for (const { status } of probes) counts.set(status, (counts.get(status) ?? 0) + 1);
  const statuses = [...counts].sort(([a], [b]) => a - b).map(([status, count]) => `${count} × ${status}`);
  const slowest = Math.max(0, ...probes.map(({ ms }) => ms));
  return `${statuses.join(', ') || 'none'} (slowest ${(slowest / 1000).toFixed(1)} s)`;
}
