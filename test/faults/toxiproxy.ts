import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from '../../bin/ports.ts';
import { eventually } from '../support/eventually.ts';
import { goProgram } from '../support/goProgram.ts';

/** A toxic as Toxiproxy has them (its README, "Toxics"): its type with attributes, in both directions or one. */
export interface Toxic {
  type: 'latency' | 'bandwidth' | 'slow_close' | 'timeout' | 'reset_peer' | 'slicer' | 'limit_data';
  attributes: Record<string, number>;
  streams?: readonly ('upstream' | 'downstream')[];
}

/** A running Toxiproxy. */
export interface Toxiproxy {
  /** Puts a proxy before a local port; returns the port to connect to. */
  add(name: string, port: number): Promise<number>;
  poison(name: string, toxic: Toxic): Promise<void>;
  /** Refuses connections, and breaks those there are. */
  disable(name: string): Promise<void>;
  /** Takes all toxics away; every proxy works. */
  reset(): Promise<void>;
  stop(): Promise<void>;
}

const PROGRAM = {
  title: 'Toxiproxy',
  name: 'toxiproxy',
  version: 'v2.12.0',
  path: 'github.com/Shopify/toxiproxy/v2/cmd/server',
};

/** Starts Shopify's Toxiproxy on 127.0.0.1, built where this machine has none yet. */
export async function startToxiproxy(): Promise<Toxiproxy> {
  const program = await goProgram(PROGRAM);
  const port = await freePort();
  const child = spawn(program, ['-host', '127.0.0.1', '-port', String(port)], {
    env: { LOG_LEVEL: 'error' },
    stdio: 'ignore',
  });
  const ask = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`Toxiproxy: ${method} ${path}: ${response.status} ${text}`);
    return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
  };
  await eventually(
    () =>
      ask('GET', '/version').then(
        () => true,
        () => false,
      ),
    Boolean,
  );
  const proxy = (name: string): string => `/proxies/${encodeURIComponent(name)}`;
  return {
    async add(name, target) {
      const { listen } = await ask('POST', '/proxies', {
        name,
        listen: '127.0.0.1:0',
        upstream: `127.0.0.1:${target}`,
        enabled: true,
      });
      return Number(String(listen).split(':').at(-1));
    },
    async poison(name, { type, attributes, streams = ['upstream', 'downstream'] }) {
      for (const stream of streams)
        await ask('POST', `${proxy(name)}/toxics`, { name: `${type}_${stream}`, type, stream, attributes });
    },
    async disable(name) {
      await ask('POST', proxy(name), { enabled: false });
    },
    async reset() {
      await ask('POST', '/reset');
    },
    stop: () => end(child),
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}
