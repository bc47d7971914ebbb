import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { Client, Connection } from '@temporalio/client';
import Koa from 'koa';
import { ulid } from 'ulid';
import { z } from 'zod';
import { ready, setting } from '../child.ts';
import type { NewMessage } from './database.ts';

/**
 * The plain pipeline's API, an ordinary small one: checks the key and the body of `POST /v1/messages`, starts a workflow
 * and answers 201 with the message's id.
 */
const accepted = z.object({
  to: z.string().regex(/^\+[1-9][0-9]{7,14}$/),
  text: z.string().min(1).max(1600),
});
const authorization = `Bearer ${setting('API_KEY')}`;
const client = new Client({ connection: await Connection.connect({ address: setting('TEMPORAL_ADDRESS') }) });

const app = new Koa();
app.use(async (ctx) => {
  if (ctx.method !== 'POST' || ctx.path !== '/v1/messages') return;
  if (ctx.headers.authorization !== authorization) return void (ctx.status = 401);
  const parsed = accepted.safeParse(await json(ctx.req).catch(() => undefined));
  if (!parsed.success) {
    ctx.status = 400;
    ctx.body = { error: parsed.error.issues };
    return;
  }
  const message: NewMessage = { id: `msg_${ulid()}`, recipient: parsed.data.to, text: parsed.data.text };
  await client.workflow.start('plainMessage', {
    ...{ workflowId: message.id, taskQueue: 'bench-plain', args: [message] },
  });
  ctx.status = 201;
  ctx.body = { id: message.id };
});
const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');
ready(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
process.once('SIGINT', () => process.exit());
