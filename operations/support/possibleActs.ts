import type { EmailHead } from '../../db/emails/reads.ts';
import type { Sql } from '../../db/connection.ts';
import { type ResendRefusal, type StaffRefusal, StaffRefused } from '../../domain/refusals.ts';
import { readMessageFacts } from '../../db/maintenance/bulks.ts';
import { refusalOfResend } from '../webhooks/resend.ts';
import { whyNotCancelled } from './bulks.ts';
import { undecidable } from './decisions.ts';
import { requireSettleable, requireWaits } from './settle.ts';
import type { KnownWorkflow } from './workflow.ts';

/** What staff can do about a message or an e-mail. */
export interface PossibleAct {
  /** The command that does it. */
  command: string;
  /** Of the message or e-mail, or of its webhook event. */
  id: string;
  /** Why not now; null: it is possible. */
  why: StaffRefusal | ResendRefusal | null;
}

interface Subject {
  id: string;
  erasedAt: Date | null;
}

/** By the checks of the operations themselves, at this moment. @param events of its webhook */
export async function actsOfMessage(
  sql: Sql,
  message: Subject,
  { view, fault }: KnownWorkflow,
  events: readonly { id: string }[],
): Promise<PossibleAct[]> {
  const { id } = message;
  const running = view?.status === 'RUNNING';
  const [facts] = await readMessageFacts(sql, [id]);
  const undecided =
    undecidable(id, facts) ??
    (running || fault !== null ? null : ({ reason: 'message_undecidable', message: id } as const));
  return [
    { command: 'messages cancel', id, why: whyNotCancelled(id, facts) },
    { command: 'messages resubmit', id, why: undecided },
    { command: 'messages give-up', id, why: undecided },
    await act('messages settle', id, () => requireSettleable(sql, id, running)),
    ...(await resends(sql, events)),
    await act('erase', id, () => requireUnerased(message)),
  ];
}

/** As {@link actsOfMessage}. */
export async function actsOfEmail(
  sql: Sql,
  email: EmailHead,
  events: readonly { id: string }[],
): Promise<PossibleAct[]> {
  return [
    await act('emails give-up', email.id, () => requireWaits(email)),
    ...(await resends(sql, events)),
    await act('erase', email.id, () => requireUnerased(email)),
  ];
}

async function act(command: string, id: string, check: () => unknown): Promise<PossibleAct> {
  try {
    await check();
    return { command, id, why: null };
  } catch (error) {
    if (error instanceof StaffRefused) return { command, id, why: error.refusal };
    throw error;
  }
}

async function resends(sql: Sql, events: readonly { id: string }[]): Promise<PossibleAct[]> {
  const acts: PossibleAct[] = [];
  for (const { id } of events)
    acts.push({ command: 'webhooks resend', id, why: await refusalOfResend(sql, id) });
  return acts;
}

function requireUnerased({ id, erasedAt }: Subject): void {
  if (erasedAt !== null) throw new StaffRefused({ reason: 'erased_already', subject: id });
}
