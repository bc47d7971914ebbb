import type { Client } from '@temporalio/client';
import { createSemaphore } from '../../concurrency/semaphore.ts';
import { withTimeout } from '../../concurrency/tasks.ts';
import { listKeywords } from '../../db/accounts/keywords.ts';
import { type Database, readUnlessSlow, type Sql } from '../../db/connection.ts';
import {
  type Waiting,
  waitingReplies,
  waitingSenderRequests,
  waitingSignUps,
  waitingStuck,
} from '../../db/maintenance/attention.ts';
import { countOpenFindings, FINDING_KINDS, type FindingKind } from '../../db/maintenance/findings.ts';
import { COUNTED_MAX, STUCK_KINDS } from '../../db/messages/stuck.ts';
import { lacksConsent } from '../accounts/inbound.ts';
import { KINDS, MINUTES, stuckTasks, stuckTimers, type WorkflowKind } from './stuck.ts';

const STATEMENT_MS = 2_000;
const STATEMENTS_AT_ONCE = 4;
const TEMPORAL_MS = 5_000;

/** What needs a person: what is stuck, decisions that wait, findings. */
export const ATTENTION_KINDS = [
  ...KINDS,
  'reply',
  'sender_request',
  'keyword',
  'sign_up',
  ...FINDING_KINDS,
] as const;
export type AttentionKind = (typeof ATTENTION_KINDS)[number];

export interface Attention {
  kind: AttentionKind;
  /** Null: see `unknown`. */
  count: number | null;
  /** There may be more. */
  atLeast: boolean;
  oldest: Date | null;
  /** The database took too long, or Temporal did not answer. */
  unknown: 'too_slow' | 'unreachable' | null;
}

const WAITING: Record<'reply' | 'sender_request' | 'keyword' | 'sign_up', (sql: Sql) => Promise<Waiting>> = {
  reply: waitingReplies,
  sender_request: waitingSenderRequests,
  keyword: waitingKeywords,
  sign_up: waitingSignUps,
};

/** Counts what needs a person, by kind; what cannot be counted in time says so. */
export async function readAttention(sql: Database, temporal: () => Promise<Client>): Promise<Attention[]> {
  const places = createSemaphore({ places: STATEMENTS_AT_ONCE });
  const within = <T>(read: (tx: Sql) => Promise<T>) =>
    places.run(undefined, () => readUnlessSlow(sql, STATEMENT_MS, read));
  const stored = STUCK_KINDS.map(async (kind) =>
    counted(kind, await within((tx) => waitingStuck(tx, kind, MINUTES[kind]))),
  );
  const decisions = Object.entries(WAITING).map(async ([kind, read]) =>
    counted(kind as keyof typeof WAITING, await within(read)),
  );
  const workflows = (['task', 'timer'] as const).map((kind) => countWorkflows(sql, temporal, kind));
  const [findings, ...rest] = await Promise.all([
    within(countOpenFindings),
    ...stored,
    ...workflows,
    ...decisions,
  ]);
  return [...rest, ...FINDING_KINDS.map((kind) => counted(kind, ofFindings(findings, kind)))];
}

async function waitingKeywords(sql: Sql): Promise<Waiting> {
  const keywords = await listKeywords(sql, null);
  return { count: keywords.filter(lacksConsent).length, oldest: null };
}

type Findings = Awaited<ReturnType<typeof countOpenFindings>>;

function ofFindings(findings: Findings | null, kind: FindingKind): Waiting | null {
  if (findings === null) return null;
  const found = findings.find((one) => one.kind === kind);
  return { count: found?.open ?? 0, oldest: found?.oldest ?? null };
}

/** @param found null: it took too long */
function counted(kind: AttentionKind, found: Waiting | null): Attention {
  if (found === null) return { kind, count: null, atLeast: false, oldest: null, unknown: 'too_slow' };
  return { kind, ...found, atLeast: found.count >= COUNTED_MAX, unknown: null };
}

async function countWorkflows(
  sql: Database,
  temporal: () => Promise<Client>,
  kind: WorkflowKind,
): Promise<Attention> {
  const filter = { accountId: null, route: null, minutes: MINUTES[kind] };
  const read = async () => {
    const client = await temporal();
    return await (kind === 'task' ? stuckTasks(client, filter) : stuckTimers(sql, client, filter));
  };
  const found = await withTimeout(read(), TEMPORAL_MS, () => null).catch(() => null);
  if (found === null) return { kind, count: null, atLeast: false, oldest: null, unknown: 'unreachable' };
  const { things, looked, running } = found;
  const times = things.map(({ since }) => since.getTime());
  const oldest = times.length === 0 ? null : new Date(Math.min(...times));
  return { kind, count: things.length, atLeast: looked < running, oldest, unknown: null };
}
