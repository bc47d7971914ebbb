import { describe, expect, it } from 'vitest';
import { newId } from '../../db/ids.ts';
import { linksOfMessage } from '../../db/links/links.ts';
import { database, newAccount, type TestAccount } from '../support/factories.ts';
import { addresses, carry, counted, sendLink, sendLinks, visit } from '../support/links.ts';
import { SHORT_URL } from '../support/service.ts';

const later = new Date(Date.now() + 86_400_000).toISOString();

describe('one link per recipient and target address', () => {
  it('is found again by later messages; another account gets another', async () => {
    const [account, other] = [await newAccount(), await newAccount()];
    const to = ['+48500100200', '+48500100201'];
    const text = '{{link:https://example.com/a}} {{link:https://example.com/A}}';
    const tokensOf = async ({ api }: TestAccount) => {
      const body = await api.accepted({ to, text, send_at: later });
      return body.messages.map((message) => message.text.match(/[0-9A-Za-z]{8}(?= |$)/g));
    };
    const first = await tokensOf(account);
    expect(new Set(first.flat()).size).toBe(4);
    expect(await tokensOf(account)).toEqual(first);
    expect((await tokensOf(other)).flat().filter((token) => first.flat().includes(token))).toEqual([]);
    expect((await account.api.get('/v1/links')).body.data).toHaveLength(4);
  });

  it('also when many sends want the same ones at once, in any order', async () => {
    const account = await newAccount({ balance: 1_000_000 });
    const to = Array.from({ length: 30 }, (_, i) => `+48500${String(300_000 + i)}`);
    const shuffles = [to, to.toReversed(), to.slice(15).concat(to.slice(0, 15))];
    const text = '{{link:https://example.com/jesień}}';
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        account.api.accepted({ to: shuffles[i % 3], text, send_at: later }),
      ),
    );
    const texts = answers.map(({ messages }) => messages.map((one) => `${one.to} ${one.text}`).sort());
    expect(texts.every((one) => JSON.stringify(one) === JSON.stringify(texts[0]))).toBe(true);
    const [stored] = await database()`
      select count(*) as links from tracked_links where account_id = ${account.id}`;
    expect(stored).toEqual({ links: 30 });
  });

  it('a message shows its own links, named after itself', async () => {
    const account = await newAccount();
    const [first, second] = await sendLinks(account, addresses(2));
    const again = await sendLink(account, first!.url);
    expect(again.token).toBe(first!.token);
    const of = async (message: string) =>
      (await linksOfMessage(database(), account.id, message)).map((row) => [row.token, row.messageId]);
    expect(await of(first!.message)).toEqual([
      [first!.token, first!.message],
      [second!.token, first!.message],
    ]);
    expect(await of(again.message)).toEqual([[first!.token, again.message]]);
    expect(await linksOfMessage(database(), (await newAccount()).id, first!.message)).toEqual([]);
  });
});

describe('a text with {{link:<url>}}', () => {
  it('holds each recipient’s own short address; the message shows the link and its clicks', async () => {
    const account = await newAccount();
    const text = 'Zobacz {{link:https://example.com/oferta}}';
    const { status, body } = await account.api.send({ to: ['500100200', '500100201'], text });
    expect(status).toBe(201);
    const tokens = body.messages.map((message) => /^Zobacz s\.example\/l\/(\w{8})$/.exec(message.text)![1]!);
    expect(new Set(tokens).size).toBe(2);
    const [first] = body.messages;
    const shown = async () => (await account.api.get(`/v1/messages/${first!.id}`)).body.links;
    expect(await shown()).toEqual([
      expect.objectContaining({
        token: tokens[0],
        short_url: `${SHORT_URL}/l/${tokens[0]}`,
        url: 'https://example.com/oferta',
        message_id: first!.id,
        to: first!.to,
        clicks: 0,
      }),
    ]);
    expect((await visit(tokens[0]!)).headers.get('location')).toBe('https://example.com/oferta');
    await counted(account, tokens[0]!, 1);
    expect(await shown()).toEqual([expect.objectContaining({ token: tokens[0], clicks: 1 })]);
  });
});

describe('a message that is rejected from the start', () => {
  const linksOf = async ({ id }: TestAccount) => {
    const [stored] = await database()`
      select (select count(*)::int from tracked_links where account_id = ${id}) as made,
             (select count(*)::int from message_links l join messages m on m.id = l.message_id
               where m.account_id = ${id}) as carried,
             coalesce((select used from account_usage where account_id = ${id} and kind = 'links'), 0)::int as used`;
    return stored;
  };
  const text = 'Zobacz {{link:https://example.com/a}} i {{link:https://example.com/b}}';

  it('makes and carries no links, beside others and alone; its text has an address as long as theirs', async () => {
    const account = await newAccount();
    const { api } = account;
    await api.post('/v1/blacklist', { msisdns: ['500100200', '500100201'] });
    expect((await api.send({ to: ['500100200', '500100201'], text }, 'klucz')).status).toBe(201);
    const alone = await api.accepted({ to: '500100200', text });
    const smil = `<smil><body><par><text>${text}</text></par></body></smil>`;
    expect((await api.post('/v1/mms', { to: '500100200', subject: 'x', smil })).status).toBe(201);
    expect(await linksOf(account)).toEqual({ made: 0, carried: 0, used: 0 });
    const mixed = await api.accepted({ to: ['500100200', '500100202'], text });
    expect(mixed.messages.map(({ status, text: own }) => [status, own.length])).toEqual([
      ['rejected', alone.text.length],
      ['queued', alone.text.length],
    ]);
    expect(await linksOf(account)).toEqual({ made: 2, carried: 2, used: 2 });
    const shown = (await api.get(`/v1/messages/${alone.id}`)).body;
    expect([shown.text, shown.links]).toEqual([alone.text, []]);
    const [token] = /\w{8}(?= i )/.exec(alone.text)!;
    expect((await visit(token)).status).toBe(404);
  });

  it('shows the address that its recipient has already, which leads on', async () => {
    const account = await newAccount();
    const { api } = account;
    const sent = await api.accepted({ to: '500100200', text, send_at: later });
    await api.post('/v1/blacklist', { msisdn: '500100200' });
    const rejected = await api.accepted({ to: '500100200', text });
    expect([rejected.status, rejected.text]).toEqual(['rejected', sent.text]);
    expect((await api.get(`/v1/messages/${rejected.id}`)).body.links).toEqual([]);
    expect((await api.get(`/v1/messages/${sent.id}`)).body.links).toHaveLength(2);
    expect(await linksOf(account)).toEqual({ made: 2, carried: 2, used: 2 });
  });
});

describe('GET /v1/links', () => {
  it('shows each link with the fields of the interface', async () => {
    const account = await newAccount();
    const { token, message } = await sendLink(account, 'https://example.com/ą?b=1#c');
    const { body } = await account.api.get('/v1/links');
    expect(body).toEqual({
      data: [
        {
          token,
          short_url: `${SHORT_URL}/l/${token}`,
          url: 'https://example.com/ą?b=1#c',
          message_id: message,
          to: '+48500100200',
          clicks: 0,
          first_click_at: null,
          last_click_at: null,
          created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) as string,
        },
      ],
      next_cursor: null,
      totals: { links: 1, clicked: 0, clicks: 0 },
    });
  });

  it('filters by message and by clicks; totals are those of the page', async () => {
    const account = await newAccount();
    const [a, b, c] = await sendLinks(account, addresses(3));
    const other = await sendLink(account, a!.url);
    for (const token of [a!.token, a!.token, c!.token]) expect((await visit(token)).status).toBe(302);
    await counted(account, a!.token, 2);
    await counted(account, c!.token, 1);
    const page = async (query: string) => (await account.api.get(`/v1/links?${query}`)).body;
    const tokens = async (query: string) => (await page(query)).data.map(({ token }) => token);

    expect(await tokens('')).toEqual([c!.token, b!.token, a!.token]);
    expect((await page('')).totals).toEqual({ links: 3, clicked: 2, clicks: 3 });
    expect((await page('limit=2')).totals).toEqual({ links: 2, clicked: 1, clicks: 1 });
    expect(await tokens('clicked=true')).toEqual([c!.token, a!.token]);
    expect(await tokens('clicked=false')).toEqual([c!.token, b!.token, a!.token]);
    expect(await tokens(`message_id=${a!.message}`)).toEqual([c!.token, b!.token, a!.token]);
    expect(await tokens(`message_id=${other.message}`)).toEqual([a!.token]);
    expect(await tokens(`message_id=${other.message}&clicked=true`)).toEqual([a!.token]);
    // Carried by two messages: the one asked about, else the last one.
    expect((await page(`message_id=${a!.message}`)).data.at(-1)!.message_id).toBe(a!.message);
    expect((await page('')).data.at(-1)!.message_id).toBe(other.message);
  });

  it('a message that is not there, is not one, or is somebody else’s carries nothing', async () => {
    const account = await newAccount();
    await sendLink(account);
    const { message } = await sendLink(await newAccount());
    for (const id of [message, newId('msg'), 'x', '%00']) {
      const { status, body } = await account.api.get(`/v1/links?message_id=${id}`);
      expect([status, body.data]).toEqual([200, []]);
    }
  });

  it('pages newest first, 50 by default, at most 200; none is skipped or repeated while links are added', async () => {
    const account = await newAccount();
    const sent = await sendLinks(account, addresses(60));
    const { message } = sent[0]!;
    const seen: string[] = [];
    const sizes: number[] = [];
    let added = 0;
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body } = await account.api.get(`/v1/links${cursor === '' ? '' : `?limit=4&cursor=${cursor}`}`);
      seen.push(...body.data.map(({ token }) => token));
      sizes.push(body.data.length);
      cursor = body.next_cursor;
      await carry(account.id, message, '+48500100200', [`https://example.com/added/${(added += 1)}`]);
    }
    expect(sizes).toEqual([50, 4, 4, 2]);
    expect(seen).toEqual(sent.map(({ token }) => token).reverse());
    expect((await account.api.get('/v1/links?limit=200')).body.data).toHaveLength(60 + added);
  });

  it.each([
    ['limit=201', 'limit'],
    ['clicked=1', 'clicked'],
    ['cursor=x', 'cursor'],
    ['to=500100200', 'to'],
  ])('%s is refused, naming %s', async (query, param) => {
    const { status, body } = await (await newAccount()).api.get(`/v1/links?${query}`);
    expect([status, body.error.code, body.error.param]).toEqual([400, 'invalid_request', param]);
  });
});

describe('GET /v1/links/{token}', () => {
  it('shows the link and its latest 50 clicks, newest first, without addresses', async () => {
    const account = await newAccount();
    const { token } = await sendLink(account);
    for (let i = 0; i < 52; i += 1)
      await visit(token, { headers: { 'user-agent': `Mozilla/5.0 visit ${i}` } });
    const link = await counted(account, token, 52);
    expect(link).toMatchObject({ token, clicks: 52, to: '+48500100200' });
    expect(link.click_log.map(({ user_agent }) => user_agent)).toEqual(
      Array.from({ length: 50 }, (_, i) => `Mozilla/5.0 visit ${51 - i}`),
    );
    expect(Object.keys(link.click_log[0]!).sort()).toEqual(['clicked_at', 'robot', 'user_agent']);
    expect(link.last_click_at).toBe(link.click_log[0]!.clicked_at);
    expect(link.first_click_at! < link.click_log[49]!.clicked_at).toBe(true);
  });

  it.each(['aaaaaaaa', 'x', 'aaaaaaa%00'])('%s is not there', async (token) => {
    const { status, body } = await (await newAccount()).api.get(`/v1/links/${token}`);
    expect([status, body.error.code]).toEqual([404, 'not_found']);
  });
});
