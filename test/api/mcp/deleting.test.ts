import { describe, expect, it } from 'vitest';
import type { McpClient } from '../../support/mcpClient.ts';
import { withBelongings } from './belongings.ts';
import { answering, using } from './using.ts';

const DELETING = [
  ['delete_contact', 'contact', 'id', '/v1/contacts'],
  ['remove_from_blacklist', 'listed', 'msisdn', '/v1/blacklist'],
] as const;
const REPLIES = [
  ['agrees', { action: 'accept', content: { confirm: true } }, 0],
  ['leaves the box empty', { action: 'accept', content: { confirm: false } }, 1],
  ['declines', { action: 'decline' }, 1],
] as const;

describe.each(DELETING)('%s', (name, belonging, field, list) => {
  it.each(REPLIES)('asks the user where the client can: who %s', async (_who, reply, left) => {
    const { account, of } = await withBelongings();
    const named = of[belonging]!;
    const questions: string[] = [];
    const deletes = ({ call }: McpClient) => call(name, { [field]: named });
    const answer = await using(account.key, deletes, answering(reply, questions));
    expect(questions).toEqual([expect.stringContaining(JSON.stringify(named))]);
    expect(answer.isError).toBe(left === 1);
    expect((await account.api.get(list)).body.data).toHaveLength(left);
  });
});
