import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { identify, readRunFile } from '../../bin/runfile.ts';
import { eventually, until } from '../support/eventually.ts';
import { type Listener, listenersOf, type SeenProcess, treeOf } from './processTree.ts';
import { startWhole } from './support.ts';

// What does not speak HTTP says nothing.
const ANSWER_MS = 1_500;
const SURE_ANSWER_MS = 60_000;
const SECRETS_KEY = randomBytes(32).toString('base64');
const OPERATORS_OWN = 'only-the-operator-knows';

const dataDir = mkdtempSync(join(tmpdir(), 'goniec-start-'));
let start: ChildProcess;
let output: () => string;
let scheduled = '';
let processes: SeenProcess[];
let listeners: Listener[];

// One service for all of these; it is only looked at.
beforeAll(async () => {
  ({ child: start, output } = await startWhole(dataDir, {
    SECRETS_KEY,
    AWS_SECRET_ACCESS_KEY: OPERATORS_OWN,
  }));
  const response = await fetch(`${readRunFile(dataDir)!.apiUrl}/v1/messages`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${readFileSync(/in (\S+demo\.key)/.exec(output())![1]!, 'utf8').trim()}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ to: '500100200', text: 'later', send_at: new Date(Date.now() + 3_600_000) }),
  });
  scheduled = ((await response.json()) as { id: string }).id;
  expect(scheduled).toMatch(/^msg_/);
  processes = treeOf(start.pid!);
  listeners = listenersOf(processes);
});

afterAll(async () => {
  if (start?.exitCode === null && start.signalCode === null) {
    const ended = once(start, 'exit');
    start.kill('SIGTERM');
    await ended;
  }
  rmSync(dataDir, { recursive: true, force: true });
});

/** What comes back for bytes sent to a port; whatever does not speak HTTP says nothing, or breaks off. */
function answerOf(
  { host, port }: Pick<Listener, 'host' | 'port'>,
  request: string,
  withinMs = ANSWER_MS,
): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect({ host, port }, () => socket.write(request));
    const done = (): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(withinMs, done);
    socket.on('data', (chunk: Buffer) => (answer += chunk.toString('latin1')));
    socket.on('end', done);
    socket.on('error', done);
  });
}

function http(method: string, path: string, headers: Record<string, string>, body = ''): string {
  const lines = Object.entries({ ...headers, 'Content-Length': String(body.length), Connection: 'close' });
  return `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`;
}

const NAMESPACE = '/namespaces/default';
/** What reads or changes something, where Temporal answers HTTP: its own interface, and the one for the Web UI. */
const TEMPTATIONS = (id: string): [method: string, path: string, body: string][] =>
  ['', '/api/v1'].flatMap((base) => [
    ['GET', `${base}${NAMESPACE}/workflows`, ''],
    ['GET', `${base}/cluster-info`, ''],
    ['POST', `${base}${NAMESPACE}/workflows/${id}/cancel`, '{}'],
    ['POST', `${base}${NAMESPACE}/workflows/${id}/terminate`, '{}'],
    ['POST', `${base}${NAMESPACE}/workflows/${id}/signal/cancelMessage`, '{}'],
    ['POST', `${NAMESPACE}/task-queues/messages/nexus-services/a/b`, '{}'],
  ]);

/** How a browser sends what a page of another site wants of it. */
const DISGUISES = (port: number): Record<string, string>[] => [
  { Host: 'attacker.example' },
  { Host: `attacker.example:${port}`, Origin: `http://attacker.example:${port}` },
  { Host: 'localhost.attacker.example' },
  { Host: `127.0.0.1:${port}`, Origin: 'https://attacker.example', 'Content-Type': 'text/plain' },
  { Host: `127.0.0.1:${port}`, Origin: 'null', 'Content-Type': 'text/plain' },
  { Host: `127.0.0.1:${port}`, Origin: 'http://localhost:9', 'Sec-Fetch-Site': 'same-site' },
  { Host: `localhost:${port}`, 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors' },
];

describe('a page of another site', () => {
  it('reads and changes nothing on any port of a started service', async () => {
    const { apiUrl, temporalUiUrl } = readRunFile(dataDir)!;
    const [apiPort, uiPort] = [apiUrl!, temporalUiUrl!].map((url) => Number(new URL(url).port));
    const [hidden, open] = [true, false].map((far) =>
      listeners.filter(({ host }) => (host !== '127.0.0.1') === far),
    );
    expect(open!.map(({ port }) => port)).toEqual(expect.arrayContaining([apiPort, uiPort]));
    // The UI itself: at an address that nobody can guess, another one at each start.
    expect(hidden).toHaveLength(1);
    expect(hidden![0]!.host).toMatch(/^127\.\d+\.\d+\.\d+$/);

    for (const listener of open!) {
      for (const disguise of DISGUISES(listener.port)) {
        for (const [method, path, body] of TEMPTATIONS(scheduled)) {
          const answer = await answerOf(listener, http(method, path, disguise, body));
          expect(answer, `${listener.port} ${method} ${path} ${JSON.stringify(disguise)}`).toMatch(
            /^$|^HTTP\/1\.[01] 4\d\d |^HTTP\/1\.1 0|^\0/,
          );
          expect(answer.includes('access-control-allow-origin')).toBe(false);
        }
      }
    }
    // The same words from this machine itself do something, so that the above shows what it says.
    const own = { Host: `127.0.0.1:${uiPort}` };
    const list = http('GET', `/api/v1${NAMESPACE}/workflows`, own);
    const ui = { host: '127.0.0.1', port: uiPort! };
    expect(await answerOf(ui, list, SURE_ANSWER_MS)).toContain(scheduled);
    const rebound = http('GET', `/api/v1${NAMESPACE}/workflows`, { Host: 'attacker.example' });
    expect(await answerOf(hidden![0]!, rebound, SURE_ANSWER_MS)).toContain(scheduled);
    const page = await answerOf(ui, http('GET', '/', own), SURE_ANSWER_MS);
    expect(page).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('finds no more than counts where Temporal serves its metrics', async () => {
    const served: string[] = [];
    for (const listener of listeners) {
      const answer = await answerOf(listener, http('GET', '/metrics', { Host: 'attacker.example' }));
      if (/^HTTP\/1\.1 200 /.test(answer) && answer.includes('# TYPE')) served.push(answer);
    }
    expect(served.length).toBeLessThanOrEqual(1);
    for (const answer of served) expect(answer).not.toMatch(/msg_|req_|cl_[0-9a-hjkmnp-tv-z]{26}/);
  });
});

describe('the children of a started service', () => {
  it('are given no more of its environment than they need', () => {
    const children = processes.filter(({ pid }) => pid !== start.pid);
    const kinds = ['postgres', 'start-dev', 'goniec-watchdog'];
    for (const kind of kinds)
      expect(
        children.some(({ command }) => command.includes(kind)),
        kind,
      ).toBe(true);
    const own = processes.find(({ pid }) => pid === start.pid)!;
    expect(own.environment['SECRETS_KEY']).toBe(SECRETS_KEY);
    for (const { command, environment } of children) {
      const names = Object.keys(environment);
      // PostgreSQL writes the names of its workers over what it was given; tsx starts its compiler before any code of ours.
      if (/^postgres: /.test(command) || command.includes('/esbuild')) continue;
      expect(
        names.filter((name) => !/^(PATH|HOME|TMPDIR|LANG|LC_ALL|TZ|XDG_CACHE_HOME|PWD|SHLVL|_)$/.test(name)),
        command,
      ).toEqual([]);
      expect(Object.values(environment).join(), command).not.toContain(SECRETS_KEY);
      expect(Object.values(environment).join(), command).not.toContain(OPERATORS_OWN);
    }
  });
});

// Last: nothing runs afterwards.
describe('a started service that is told to stop', () => {
  it('ends at the second signal though its database hangs, as do its servers', async () => {
    const pids = treeOf(start.pid!).map(({ pid }) => pid);
    const { pid } = JSON.parse(readFileSync(join(dataDir, 'postgres.pid'), 'utf8')) as { pid: number };
    const servers = treeOf(pid).map((one) => one.pid);
    for (const one of servers) process.kill(one, 'SIGSTOP');
    try {
      const ended = once(start, 'exit');
      start.kill('SIGTERM');
      await until('it stops', () => Promise.resolve(output().includes('Stopping …')));
      // What comes right after the first is taken for the same one, sent twice.
      const again = setInterval(() => start.kill('SIGINT'), 100);
      expect(await ended).toEqual([130, null]);
      clearInterval(again);
    } finally {
      for (const one of servers) kill(one, 'SIGCONT');
    }
    await eventually(
      () => Promise.resolve(pids.filter((one) => identify(one) !== null)),
      (left) => left.length === 0,
    );
  });
});

function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}
