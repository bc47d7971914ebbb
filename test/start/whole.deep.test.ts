import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';
import { identify } from '../../bin/runfile.ts';
import { eventually, until } from '../support/eventually.ts';
import { startReceiver } from '../support/webhookReceiver.ts';
import { treeOf } from './processTree.ts';
import { dataFolder, startWhole } from './support.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

interface Service {
  output: string;
  process: ChildProcess;
  api: string;
  temporalUi: string;
}

let running: ChildProcess | undefined;
afterEach(() => running?.kill('SIGKILL'));

/** `npm start` without npm; resolves once it has printed that it is running. */
async function start(dataDir: string): Promise<Service> {
  const { child, output: said } = await startWhole(dataDir, { WEBHOOK_ALLOW_PRIVATE: 'true' });
  running = child;
  const output = said();
  const address = (name: string) => new RegExp(`${name}\\s+(http://\\S+)`).exec(output)![1]!;
  return { output, process: child, api: address('API'), temporalUi: address('Temporal UI') };
}

async function interrupt({ process: child }: Service): Promise<number | null> {
  child.kill('SIGINT');
  const [code] = (await once(child, 'exit')) as [number | null];
  return code;
}

async function shell(line: string): Promise<string> {
  const child = spawn('sh', ['-c', line], { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  await once(child, 'close');
  return output;
}

test(
  'the first start prints a curl line that works; Ctrl-C stops all; the second start goes on where it was; a kill ends all',
  { timeout: 480_000 },
  async () => {
    const dataDir = dataFolder();
    const first = await start(dataDir);
    // No terminal: what is printed may be kept in logs, so the key is not among it.
    expect(first.output).not.toContain('pk_live_');
    const keyFile = /in (\S+demo\.key)/.exec(first.output)![1]!;
    expect(statSync(keyFile).mode & 0o777).toBe(0o600);
    const key = readFileSync(keyFile, 'utf8').trim();
    expect(key).toMatch(/^pk_live_[A-Za-z0-9]{40}$/);
    const receiver = await startReceiver();
    const ask = async (service: Service, path: string, init: RequestInit = {}) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const response = await fetch(service.api + path, { ...init, headers });
      return (await response.json()) as { id: string; status: string; text: string; webhook_secret: string };
    };
    const { webhook_secret: secret } = await ask(first, '/v1/account/webhook', {
      method: 'PUT',
      body: JSON.stringify({ url: receiver.url }),
    });
    receiver.useSecret(secret);

    const pasted = /^\s*(curl .*-d .*)$/m.exec(first.output)![1]!;
    const { id } = JSON.parse(await shell(pasted)) as { id: string };
    await until('delivered', async () => (await ask(first, `/v1/messages/${id}`)).status === 'delivered');
    const calls = await receiver.until((all) => all.length === 2);
    expect(calls.map(({ verified, event }) => [verified, event.type])).toEqual([
      [true, 'message.sent'],
      [true, 'message.delivered'],
    ]);
    expect((await fetch(first.temporalUi)).status).toBe(200);
    const shown = await shell(/^\s*(curl .*limit=1.*)$/m.exec(first.output)![1]!);
    expect(shown).toContain(id);

    const { text } = await ask(first, '/v1/messages', {
      method: 'POST',
      body: JSON.stringify({ to: '500100200', text: '{{link:https://example.pl}}' }),
    });
    expect((await fetch(`http://${text}`, { redirect: 'manual' })).status).toBe(302);
    const told = await receiver.until((all) => all.some(({ event }) => event.type === 'link.clicked'));
    const clicked = told.find(({ event }) => event.type === 'link.clicked')!;
    expect(clicked.event.data).toMatchObject({ link: { short_url: `http://${text}` } });

    const servers = ['postgres', 'temporal'].map((name) => {
      const { pid } = JSON.parse(readFileSync(join(dataDir, `${name}.pid`), 'utf8')) as { pid: number };
      expect(process.kill(pid, 0)).toBe(true);
      return pid;
    });
    const later = await ask(first, '/v1/messages', {
      method: 'POST',
      body: JSON.stringify({
        to: '500100200',
        text: 'później',
        send_at: new Date(Date.now() + 30_000).toISOString(),
      }),
    });
    expect(later.status).toBe('scheduled');
    expect(await interrupt(first)).toBe(0);
    for (const pid of servers) expect(() => process.kill(pid, 0)).toThrow('ESRCH');

    const second = await start(dataDir);
    expect(second.output).not.toContain('pk_live_');
    expect((await ask(second, `/v1/messages/${id}`)).status).toBe('delivered');
    expect(await shell(/^\s*(.*npm run .*keys create.*)$/m.exec(second.output)![1]!)).toContain('pk_live_');
    await until(
      'the scheduled message is delivered',
      async () => (await ask(second, `/v1/messages/${later.id}`)).status === 'delivered',
    );
    await receiver.close();

    // Killed with -9 it leaves no half of itself: its servers end by themselves.
    const all = treeOf(second.process.pid!).map(({ pid }) => pid);
    expect(all.length).toBeGreaterThan(2);
    second.process.kill('SIGKILL');
    await eventually(
      () => Promise.resolve(all.filter((pid) => identify(pid) !== null)),
      (left) => left.length === 0,
    );
  },
);
