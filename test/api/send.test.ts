import { describe, expect, it } from 'vitest';
import { books, newAccount } from '../support/factories.ts';

describe('POST /v1/messages', () => {
  it('accepts one number: 201 with a Message, charged', async () => {
    const { id, api } = await newAccount({ balance: 100, price: 10 });
    const answer = await api.send({ to: '500100200', text: 'Dzień dobry', reference: 'zam-1' });
    expect(answer.status).toBe(201);
    expect(Object.keys(answer.body)).toEqual([
      'id',
      'type',
      'status',
      'to',
      'from',
      'text',
      'subject',
      'parts',
      'cost_grosze',
      'priority',
      'reference',
      'send_at',
      'expires_at',
      'delivered_at',
      'error',
      'created_at',
      'updated_at',
    ]);
    expect(answer.body).toMatchObject({
      type: 'sms',
      status: 'queued',
      to: '+48500100200',
      from: 'INFO',
      text: 'Dzień dobry',
      parts: 1,
      cost_grosze: 10,
      priority: false,
      reference: 'zam-1',
      send_at: null,
      expires_at: null,
      error: null,
    });
    expect(await books(id)).toMatchObject({ balance: 90, ledger: 90 });
  });
});
