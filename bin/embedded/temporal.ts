import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection, isGrpcServiceError } from '@temporalio/client';
import { endLeftover, startChild, type Child, type EmbeddedServer } from './children.ts';
import { prepareDataDir } from './dataDir.ts';
import { environmentFor } from './environment.ts';
import { freePort, freePortBeside } from './ports.ts';
import { lastLine, StartProblem } from './problem.ts';
import { hiddenPlace, openUiGate, type Place } from './uiGate.ts';
import { addSearchAttributes, type SearchAttributes } from '../searchAttributes.ts';

export { findTemporal } from './temporalBinary.ts';

export type TemporalOptions = {
  /** A Temporal CLI, from `findTemporal`. */
  binary: string;
  /** The project's data folder; everything Temporal knows is in `temporal.db` below it. */
  dataDir: string;
  /** Taken when they are free. */
  ports?: { grpc?: number | undefined; ui?: number | undefined };
  /** Created where it is missing; `default` when absent. */
  namespace?: string;
  log: (line: string) => void;
  /** Pragmas of its database beside the usual ones. */
  pragmas?: string[];
  /** Variables of its environment beside those that it needs. */
  env?: Record<string, string>;
  /** Registered before the server counts as started. */
  searchAttributes: SearchAttributes;
};

export type EmbeddedTemporal = EmbeddedServer & { address: string; uiUrl: string; uiPort: number };

const STOP_PATIENCE_MS = 10_000;
const READY_PATIENCE_MS = 60_000;
const TRIES = 3;

/** Settings of every server of this service beyond its defaults. */
export const DYNAMIC_CONFIG = {
  // Without these two the server ignores fairness keys; the priority of a task works by the same matcher.
  'matching.useNewMatcher': 'true',
  'matching.enableFairness': 'true',
  // Of the four partitions a queue has by default, each keeps an order of its own, and passes on what it has no poller for.
  'matching.numTaskqueueReadPartitions': '1',
  'matching.numTaskqueueWritePartitions': '1',
  // A worker whose machine is gone without a word: what is given to it until that is noticed is lost for ten seconds. The server asks by
  // default after a minute, and for twenty seconds.
  'frontend.keepAliveTime': '"10s"',
  'frontend.keepAliveTimeout': '"10s"',
  // The frontend's HTTP interface asks nobody who he is, takes what any web page posts, and cannot be switched off in the
  // development server. It answers calls to these names alone, and no HTTP request can have one with blanks.
  'frontend.httpAllowedHosts': '["no name at all"]',
  // A part of that interface that looks at no name. Nothing here uses it.
  'system.enableNexus': 'false',
};

/**
 * Starts Temporal's development server with its Web UI on 127.0.0.1, its state in a file, and waits until it serves
 * the namespace with the search attributes.
 * @throws StartProblem when it does not come up.
 */
export async function startTemporal(options: TemporalOptions): Promise<EmbeddedTemporal> {
  prepareDataDir(options.dataDir);
  await endLeftover(join(options.dataDir, 'temporal.pid'), 'SIGTERM', STOP_PATIENCE_MS);
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort(options.ports?.grpc);
    const ui = await hiddenPlace();
    const gate = await openUiGate(await freePortBeside(new Set([port]), options.ports?.ui), ui);
    const child = await spawnServer(options, port, ui).catch(async (error: unknown) => {
      await gate.close();
      throw error;
    });
    // The next one wants its port.
    void child.ended.then(() => gate.close());
    const address = `127.0.0.1:${port}`;
    if (await becameReady(child, address, options)) {
      // Later SQLite gives its journals the rights of the database; the first ones are there already.
      for (const suffix of ['', '-wal', '-shm'])
        closeToOthers(`${join(options.dataDir, 'temporal.db')}${suffix}`);
      return {
        address,
        url: address,
        uiUrl: `http://127.0.0.1:${gate.port}`,
        uiPort: gate.port,
        port,
        pid: child.pid,
        stop: async () => {
          await child.stop();
          await gate.close();
        },
        onUnexpectedExit: child.onUnexpectedExit,
      };
    }
    const output = child.output();
    // Between the look for a free port and the start somebody else may have taken it.
    if (attempt >= TRIES || !/address already in use|can't set up|bind/i.test(output)) {
      throw new StartProblem(
        `Temporal did not start: ${lastLine(output)} (see ${join(options.dataDir, 'logs', 'temporal.log')})`,
      );
    }
  }
}

const GRPC = { cancelled: 1, deadlineExceeded: 4, notFound: 5, resourceExhausted: 8 } as const;
const BUSY: readonly number[] = [GRPC.cancelled, GRPC.deadlineExceeded, GRPC.resourceExhausted];

/**
 * Whether a Temporal server does its work: knows its namespace and looks workflows up. After an overload its
 * development server was seen to live on for minutes with every access to its file interrupted. One that does not
 * answer in time is busy, not broken.
 */
export async function temporalWorks(
  address: string,
  namespace: string,
  patienceMs = STOP_PATIENCE_MS,
): Promise<boolean> {
  // Without interceptors: the usual ones repeat a refused call until its time is over, as if nothing had been said.
  const connection = Connection.lazy({ address, interceptors: [] });
  const { workflowService } = connection;
  const nobody = { namespace, execution: { workflowId: 'nobody' } };
  try {
    return await connection.withDeadline(Date.now() + patienceMs, async () => {
      await workflowService.describeNamespace({ namespace });
      const code = await workflowService.describeWorkflowExecution(nobody).then(() => GRPC.notFound, codeOf);
      return code === GRPC.notFound || BUSY.includes(code);
    });
  } catch (error) {
    return BUSY.includes(codeOf(error));
  } finally {
    await connection.close();
  }
}

function codeOf(error: unknown): number {
  return isGrpcServiceError(error) ? error.code : -1;
}

function closeToOthers(file: string): void {
  if (existsSync(file)) chmodSync(file, 0o600);
}

function spawnServer(options: TemporalOptions, port: number, ui: Place): Promise<Child> {
  return startChild({
    command: options.binary,
    args: [
      ...['server', 'start-dev', '--ip', '127.0.0.1', '--port', String(port)],
      ...['--ui-ip', ui.host, '--ui-port', String(ui.port)],
      ...[
        '--db-filename',
        join(options.dataDir, 'temporal.db'),
        '--namespace',
        options.namespace ?? 'default',
      ],
      // Every state transition is a commit: with the write-ahead log it costs about half.
      ...['journal_mode=wal', ...(options.pragmas ?? [])].flatMap((pragma) => ['--sqlite-pragma', pragma]),
      ...['--log-level', 'warn', '--log-format', 'json'],
      ...Object.entries(options.searchAttributes).flatMap(([name, type]) => [
        '--search-attribute',
        `${name}=${type}`,
      ]),
      ...Object.entries(DYNAMIC_CONFIG).flatMap(([key, value]) => [
        '--dynamic-config-value',
        `${key}=${value}`,
      ]),
    ],
    env: { ...environmentFor(), ...options.env },
    logFile: join(options.dataDir, 'logs', 'temporal.log'),
    pidFile: join(options.dataDir, 'temporal.pid'),
    stopSignal: 'SIGTERM',
    patienceMs: STOP_PATIENCE_MS,
  });
}

async function becameReady(child: Child, address: string, options: TemporalOptions): Promise<boolean> {
  let alive = true;
  void child.ended.then(() => (alive = false));
  const deadline = Date.now() + READY_PATIENCE_MS;
  while (alive && Date.now() < deadline) {
    if (await serves(address, options)) return true;
    await sleep(50);
  }
  await child.stop();
  return false;
}

async function serves(
  address: string,
  { namespace = 'default', searchAttributes: attributes }: TemporalOptions,
): Promise<boolean> {
  const connection = await Connection.connect({ address, connectTimeout: '2s' }).catch(() => null);
  if (connection === null) return false;
  try {
    await connection.workflowService.describeNamespace({ namespace });
    // The command line registers them for a new namespace only; this one may be of an earlier release.
    const missing = await addSearchAttributes(connection, namespace, attributes);
    return missing.length === 0;
  } catch {
    return false;
  } finally {
    await connection.close();
  }
}
