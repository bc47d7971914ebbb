import type { Client } from '@temporalio/client';
import { newId } from '../../db/ids.ts';
import type { Draft } from '../../db/messages/drafts.ts';
import type { Acceptance, Acceptances } from '../../domain/acceptance.ts';
import { acceptTogetherUpdate, acceptUpdate } from '../../workflows/contracts.ts';
import { batchStart, gatheredStart, messageStart } from '../../workflows/startOptions.ts';
import { startable } from '../../db/messages/startable.ts';
import { askWorkflow } from '../askWorkflow.ts';

/** How long a caller waits for its charge, in milliseconds from its request: the rest of its ten seconds is for giving up. */
export const ACCEPT_MS = 8000;

/**
 * Starts the workflow of a request with one recipient, and waits for its charge.
 * @param lastCallMs how long the call before took; null for the first
 * @param until epoch milliseconds
 */
export async function askMessage(
  temporal: Client,
  draft: Draft,
  lastCallMs: number | null,
  until: number,
): Promise<Acceptance> {
  const start = messageStart(startable(draft), false, lastCallMs);
  const question = { workflow: 'message', start, update: acceptUpdate, updateId: draft.requestId };
  return await askWorkflow(temporal, question, until);
}

/** The same of a request with several recipients. @param recipients of those that are not rejected */
export async function askBatch(
  temporal: Client,
  { accountId, requestId, priority }: Draft,
  recipients: number,
  until: number,
): Promise<Acceptance> {
  const start = batchStart({ accountId, requestId, recipients, priority });
  const question = { workflow: 'batch', start, update: acceptUpdate, updateId: requestId };
  return await askWorkflow(temporal, question, until);
}

/**
 * The same of several requests with one recipient each, which are charged together, each for itself.
 * @param lastCallMs how long the call before took; null for the first
 */
export async function askTogether(
  temporal: Client,
  drafts: readonly Draft[],
  lastCallMs: number | null,
  until: number,
): Promise<Acceptances> {
  const id = newId('acc');
  const start = gatheredStart(id, drafts, lastCallMs);
  const question = { workflow: 'gathered', start, update: acceptTogetherUpdate, updateId: id };
  return await askWorkflow(temporal, question, until);
}
