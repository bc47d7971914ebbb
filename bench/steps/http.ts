import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { ulid } from 'ulid';
import { z } from 'zod';
import { ready, setting } from './settings.ts';

const body = z.object({ to: z.string().regex(/^\+[1-9][0-9]{7,14}$/), text: z.string().min(1).max(1600) });

/** A message as the programs under comparison take it. */
export interface NewMessage {
  id: string;
  recipient: string;
  text: string;
}

/**
 * Serves `POST /v1/messages` on a free port as an ordinary small API does: checks the key and the body, and answers 201
 * with the message's id once `accept` has it.
 */
export async function serveAccepting(accept: (message: NewMessage) => Promise<void>): Promise<() => void> {
  const authorization = `Bearer ${setting('API_KEY')}`;
  const app = new Koa();
  app.use(async (ctx) => {
    if (ctx.method !== 'POST' || ctx.path !== '/v1/messages') return;
    if (ctx.headers.authorization !== authorization) return void (ctx.status = 401);
    const parsed = body.safeParse(await readJson(ctx.req));
    if (!parsed.success) {
      ctx.status = 400;
      ctx.body = { error: parsed.error.issues };
      return;
    }
    const id = `msg_${ulid()}`;
    await accept({ id, recipient: parsed.data.to, text: parsed.data.text });
    ctx.status = 201;
    ctx.body = { id };
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ready(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return () => {
    server.close();
    server.closeAllConnections();
  };
}

async function readJson(request: AsyncIterable<Buffer>): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    return undefined;
  }
}
