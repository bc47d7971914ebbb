import { eventually } from '../../support/eventually.ts';
import { describe, expect, inject, it } from 'vitest';
import { tools } from '../../../mcp/tools.ts';
import { newAccount, newKey } from '../../support/factories.ts';
import { GENERATIONS, mcpClient, type ToolAnswer } from '../../support/mcpClient.ts';
import { everythingOf } from '../access/everything.ts';
import { withBelongings } from './belongings.ts';
import { toolCases } from './cases.ts';
import { using } from './using.ts';

const { apiUrl } = inject('service');
const SCOPES = ['send', 'read', 'manage'] as const;
const TABLES = ['messages', 'ledger_entries', 'contacts', 'contact_groups', 'templates', 'blacklist'];
const STRANGE = ['', '\u0000', '\ud800', '../../v1/account', 'ą'.repeat(50_000), 1e999, {}, [[]]];

const callWith = (key: string, name: string, args: Record<string, unknown>): Promise<ToolAnswer> =>
  using(key, ({ call }) => call(name, args));

it('every tool has a case', () => {
  expect(Object.keys(toolCases).sort()).toEqual(tools.map(({ name }) => name).sort());
});

describe.each(Object.entries(toolCases))('%s', (name, { scope, args, same }) => {
  it.each(GENERATIONS)('does what the REST interface then shows, %s', async (generation) => {
    const { account, of } = await withBelongings();
    const { call, close } = await mcpClient(apiUrl, account.key, { generation });
    // A look-up on a busy machine may not be answered in time.
    const answer = await eventually(
      () => call(name, args(of)),
      ({ refusal }) => refusal?.error?.code !== 'provider_error',
    );
    await close();
    expect(answer.isError, answer.texts.join()).toBe(false);
    expect(JSON.parse(answer.texts.at(-1)!)).toEqual(answer.body);
    await same(account, of, answer.body);
  });

  it('is closed without its scope, and changes nothing', async () => {
    const { account, of } = await withBelongings();
    const { key } = await newKey(
      account.id,
      'live',
      SCOPES.filter((other) => other !== scope),
    );
    const before = await everythingOf(account, TABLES);
    expect(await callWith(key, name, args(of))).toMatchObject({
      isError: true,
      refusal: { error: { code: 'forbidden' }, next: expect.stringContaining(`"${scope}"`) as string },
    });
    expect(await everythingOf(account, TABLES)).toEqual(before);
  });

  it('takes no hostile argument for another, and names it', async () => {
    const { account, of } = await withBelongings();
    const { call, close } = await mcpClient(apiUrl, account.key);
    const unknown = await call(name, { ...args(of), nonsense: 1 });
    expect(unknown).toMatchObject({
      isError: true,
      refusal: { error: { code: 'invalid_request', param: 'nonsense' } },
    });
    for (const field of Object.keys(args(of))) {
      for (const value of STRANGE) {
        const { isError, refusal } = await call(name, { ...args(of), [field]: value });
        // What is taken after all is a text like any other, or stands for "not given".
        if (!isError) continue;
        const code = refusal.error?.code ?? 'nothing done';
        expect(
          ['invalid_request', 'not_found', 'nothing done'],
          `${field}: ${JSON.stringify(value)}`,
        ).toContain(code);
        expect(refusal.next ?? refusal.notice).toBeTruthy();
      }
    }
    await close();
  });
});

describe.each(Object.entries(toolCases).filter(([, { names }]) => names !== undefined))(
  '%s',
  (name, { args }) => {
    it('finds nothing of another account', async () => {
      const victim = await withBelongings();
      const stranger = await newAccount();
      const before = await everythingOf(victim.account, TABLES);
      const answer = await callWith(stranger.key, name, args(victim.of));
      expect(answer).toMatchObject({ isError: true, refusal: { error: { code: 'not_found' } } });
      expect(answer.texts.join()).not.toMatch(/tajne/i);
      expect(await everythingOf(victim.account, TABLES)).toEqual(before);
    });
  },
);

it.each([
  ['upsert_contacts', 'contacts', { msisdn: '500100300' }],
  ['upsert_contacts', 'contacts', null],
  ['check_number', 'msisdn', 48500100200],
  ['check_number', 'msisdn', null],
  ['remove_from_blacklist', 'msisdn', 48500100200],
])('%s refuses %s of another type: %j', async (name, field, value) => {
  const account = await newAccount();
  await account.api.post('/v1/blacklist', { msisdn: '48500100200' });
  const before = await everythingOf(account, TABLES);
  expect(await callWith(account.key, name, { [field]: value })).toMatchObject({
    isError: true,
    refusal: {
      error: { code: 'invalid_request', param: field },
      next: `Correct \`${field}\` and call \`${name}\` again.`,
    },
  });
  expect(await everythingOf(account, TABLES)).toEqual(before);
});
