import { setTimeout as delay } from 'node:timers/promises';
import type { Database, Sql } from '../../db/connection.ts';
import {
  countTraces,
  erasePerson,
  forgetStatistics,
  type Person,
  scheduledTo,
} from '../../db/maintenance/erasure.ts';
import { command, optional, required, type Outcome, yes } from './command.ts';
import { findAccount } from './lookup.ts';
import { readNumber } from './msisdn.ts';
import type { Tools } from './tools.ts';
import { accountId, text } from './values.ts';

const CANCEL_WITHIN_MS = 15_000;
const LOOK_AGAIN_MS = 100;

const erase = command({
  name: 'erase',
  about: 'Erases what is stored about one phone number, on its owner’s request; its blacklist entries stay.',
  options: {
    number: required('NUMBER', 'the number, E.164 or 9 digits (Polish)', text),
    account: optional('ID', 'only of this account', accountId),
    yes,
  },
  outside: true,
  async run(sql, values, tools): Promise<Outcome> {
    const { number, masked, mask } = await readNumber('--number', values.number);
    if (values.account !== undefined) await findAccount(sql, values.account);
    const person: Person = { msisdn: number, accountId: values.account ?? null };
    const traces = await countTraces(sql, person);
    const shared = {
      subject: masked,
      ...(values.account === undefined ? {} : { account: values.account }),
    };
    if (values.yes !== true) {
      return {
        ...shared,
        result: { erased: false, ...traces },
        details: { erased: false },
        remark:
          'Nothing was changed. With --yes all of this is erased, and scheduled messages are cancelled.',
      };
    }
    const cancelled = await cancelScheduled(sql, person, tools);
    // A command that acts outside is given the pool itself.
    const open = await erasePerson(sql as Database, person, mask);
    await forgetStatistics(sql);
    const details = { erased: true, ...traces, cancelled, open_messages: open };
    return {
      ...shared,
      result: details,
      details,
      ...(open > 0
        ? { remark: `${open} messages have not ended yet; they are erased in the night after they have.` }
        : {}),
    };
  },
});

export const eraseCommands = [erase];

/** Has the workflows of scheduled messages cancel them, and waits until they have; returns how many did. */
async function cancelScheduled(sql: Sql, person: Person, tools: Tools): Promise<number> {
  const ids = await scheduledTo(sql, person);
  if (ids.length === 0) return 0;
  const { WorkflowNotFoundError } = await import('@temporalio/client');
  const { cancelSignal } = await import('../../workflows/contracts.ts');
  const client = await tools.temporal();
  for (const id of ids) {
    try {
      await client.workflow.getHandle(id).signal(cancelSignal);
    } catch (error) {
      // Lost: the reconciliation starts it again; until then it is one that has not ended.
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  }
  const deadline = Date.now() + CANCEL_WITHIN_MS;
  let left = await scheduledTo(sql, person);
  while (left.length > 0 && Date.now() < deadline) {
    await delay(LOOK_AGAIN_MS);
    left = await scheduledTo(sql, person);
  }
  return ids.length - left.length;
}
