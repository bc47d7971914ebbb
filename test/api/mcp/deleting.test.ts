import { describe, expect, inject, it } from 'vitest';
import { newKey } from '../../support/factories.ts';
import { mcpClient } from '../../support/mcpClient.ts';
import { withBelongings } from './belongings.ts';

const { apiUrl } = inject('service');
const DELETING = [
  ['delete_contact', 'contact', 'id', '/v1/contacts'],
  ['remove_from_blacklist', 'listed', 'msisdn', '/v1/blacklist'],
] as const;
const REPLIES = [
  ['agrees', { action: 'accept', content: { confirm: true } }, 0],
  ['leaves the box empty', { action: 'accept', content: { confirm: false } }, 1],
  ['declines', { action: 'decline' }, 1],
] as const;

/** A client whose user answers every question with the reply. */
async function asking(key: string, reply: object) {
  const questions: string[] = [];
  const client = await mcpClient(apiUrl, key, {
    capabilities: { elicitation: { form: {} } },
    prepare: (one) =>
      one.setRequestHandler('elicitation/create', ({ params }) => {
        questions.push(params.message);
        return { ...reply } as { action: 'decline' };
      }),
  });
  return { ...client, questions };
}

describe.each(DELETING)('%s', (name, belonging, field, list) => {
  it.each(REPLIES)('asks the user where the client can: who %s', async (_who, reply, left) => {
    const { account, of } = await withBelongings();
    const { call, close, questions } = await asking(account.key, reply);
    const named = of[belonging]!;
    const answer = await call(name, { [field]: named });
    await close();
    expect(questions).toEqual([expect.stringContaining(JSON.stringify(named))]);
    expect(answer.isError).toBe(left === 1);
    expect((await account.api.get(list)).body.data).toHaveLength(left);
  });

  it('asks nobody about what the key may not do', async () => {
    const { account, of } = await withBelongings();
    const { key } = await newKey(account.id, 'live', ['read', 'send']);
    const { call, close, questions } = await asking(key, { action: 'accept', content: { confirm: true } });
    expect(await call(name, { [field]: of[belonging] })).toMatchObject({
      isError: true,
      refusal: { error: { code: 'forbidden' } },
    });
    await close();
    expect(questions).toEqual([]);
    expect((await account.api.get(list)).body.data).toHaveLength(1);
  });
});
