import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from '../../bin/ports.ts';
import { mavenProgram } from '../support/mavenProgram.ts';
import { COMMAND, decodeShortMessage, type ShortMessage, takePdus } from './wire.ts';

const VERSION = '3.0.2';
const EXAMPLES = {
  title: 'The SMSC that the route is tested against',
  name: 'jsmpp',
  version: VERSION,
  artifacts: [`org.jsmpp:jsmpp-examples:${VERSION}`],
  start: '"$@"',
  command: 'jsmpp-examples',
};
const START_PATIENCE_MS = 30_000;

export const JSMPP_CREDENTIALS = { systemId: 'goniec', password: 'tajne' };

/** An SMSC out of jSMPP's examples, in a process of its own (https://github.com/opentelecoms-org/jsmpp). */
export interface JsmppServer {
  port: number;
  /** Every submit_sm as its library read it from the wire, in order. */
  submits(): ShortMessage[];
  stop(): Promise<void>;
}

const STARTS = 3;

/**
 * Starts `SMPPServerSimulator` on a free port. It takes transceivers only, and greets each with a message "Hello World" from 555 to 12345. It
 * answers ids in hexadecimal and reports in decimal that a part was delivered, a second after it came.
 */
export async function startJsmpp(): Promise<JsmppServer> {
  const script = await mavenProgram(EXAMPLES);
  for (let time = 1; ; time += 1) {
    try {
      return await startOnce(script);
    } catch (error) {
      // Somebody took the port before the JVM was up.
      if (time === STARTS || !String(error).includes('Address already in use')) throw error;
    }
  }
}

async function startOnce(script: string): Promise<JsmppServer> {
  const port = await freePort();
  const child = spawn(
    script,
    [
      `-Djsmpp.simulator.port=${port}`,
      `-Djsmpp.client.systemId=${JSMPP_CREDENTIALS.systemId}`,
      `-Djsmpp.client.password=${JSMPP_CREDENTIALS.password}`,
      'org.jsmpp.examples.SMPPServerSimulator',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let log = '';
  child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString('latin1')));
  await listening(
    child,
    () => log.includes(`Listening on port ${port}`),
    () => log,
  );
  return {
    port,
    submits: () => submitsIn(log),
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

function submitsIn(log: string): ShortMessage[] {
  return [...log.matchAll(/Received PDU ([0-9a-f]+)$/gm)]
    .flatMap(([, hex]) => takePdus(Buffer.from(hex!, 'hex')).pdus)
    .filter(({ id }) => id === COMMAND.submitSm)
    .map(({ body }) => decodeShortMessage(body));
}

function listening(child: ChildProcess, ready: () => boolean, log: () => string): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (): void => reject(new Error(`jSMPP did not start: ${log().slice(-2_000)}`));
    const patience = setTimeout(fail, START_PATIENCE_MS);
    child.once('error', reject);
    child.once('exit', fail);
    child.stderr!.on('data', () => {
      if (!ready()) return;
      clearTimeout(patience);
      resolve();
    });
  });
}
