import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, expect } from 'vitest';
import { z } from 'zod';
import { runAdmin } from '../../bin/admin/program.ts';
import { actorOf, openServiceDatabase, type OpenTools, serviceTools } from '../../bin/admin/tools.ts';
import { readConfig } from '../../bin/config.ts';
import { byColumnName, openDatabase, type Database } from '../../db/connection.ts';
import { newId } from '../../db/ids.ts';
import { migrate } from '../../db/migrate.ts';
import { startDatabase, type TestDatabase } from '../support/database.ts';
import type { Pipeline } from '../workflows/pipeline.ts';
import { until } from '../support/eventually.ts';

export const ACTOR = 'tester';
const COMMAND_PAUSE_MS = 250;

/** Any answer of the command line, read loosely: tests look into what they asked for. */
export type Answer = Record<string, unknown>;

const answerShape = z.record(z.string(), z.unknown());
const errorShape = z.strictObject({
  error: z.strictObject({ code: z.string(), message: z.string().min(1) }),
});

/** Parses what must be exactly one JSON object on one line. */
export function oneObject(text: string): Answer {
  expect(text).toMatch(/^\{.*\}\n$/);
  return answerShape.parse(JSON.parse(text));
}

/** Parses a refusal as printed with --json. */
export function oneError(text: string): { code: string; message: string } {
  return errorShape.parse(JSON.parse(text)).error;
}

/** The records of a list in an answer. */
export function listIn(answer: Answer, field = 'data'): Answer[] {
  return z.array(answerShape).parse(answer[field]);
}

/**
 * A server of its own with one migrated database, for the tests of one file. `url` is how the command line gets in, `sql` may
 * do all with its tables, `superuserUrl` anything.
 */
export function ownDatabase() {
  let database: TestDatabase | undefined;
  beforeAll(async () => {
    database = await startDatabase(migrate, 4);
  });
  afterAll(() => database?.stop());
  const opened = (): TestDatabase => {
    if (database === undefined) throw new Error('the database is not open yet');
    return database;
  };
  const sql = (): Database => opened().sql;
  return {
    url: (): string => opened().partUrls.admin,
    superuserUrl: (): string => opened().superuserUrl,
    sql,
    /** A new account, with these columns. */
    account: async (columns: object = {}): Promise<string> => {
      const id = newId('cl');
      await sql()`insert into accounts ${sql()({ id, name: 'Test', ...columns })}`;
      return id;
    },
    /** The latest record of the audit log, of an account where one is named. */
    lastAudit: async (account: string | null = null): Promise<Answer | undefined> => {
      const [row] = await sql()<Answer[]>`
        select actor, action, account_id, subject, details from audit_log
         where account_id = ${account} or ${account}::text is null order by id desc limit 1`;
      return row && byColumnName(row);
    },
  };
}

export interface Run {
  code: number;
  out: string;
  err: string;
}

/** The command line as `bin/admin.ts` puts it together, but in this process, with these variables over a bare environment. */
export async function serviceLine(environment: Record<string, string>, ...line: string[]): Promise<Run> {
  const own = process.env;
  const { PATH, HOME } = own;
  process.env = { PATH, HOME, ...environment };
  let out = '';
  let err = '';
  try {
    const code = await runAdmin(line, {
      actor: () => actorOf(readConfig()),
      openDatabase: openServiceDatabase,
      openTools: serviceTools,
      out: (text) => (out += text),
      err: (text) => (err += text),
    });
    return { code, out, err };
  } finally {
    process.env = own;
  }
}

/** The command line as an operator has it: a process of its own, with something on its standard input. */
export async function adminProcess(
  environment: Record<string, string>,
  input: string,
  ...line: string[]
): Promise<Run> {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, ['--import', 'tsx', 'bin/admin.ts', ...line], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: { PATH, HOME, ...environment },
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  child.stdin.on('error', () => undefined).end(input);
  const [code] = (await once(child, 'close')) as [number];
  return { code, out, err };
}

/** The tools of a command line that needs none. */
export function noTools(): OpenTools {
  const missing = () => Promise.reject(new Error('not in this test'));
  const webhookAllowPrivate = () => Promise.resolve(false);
  return {
    secretsKey: missing,
    webhookAllowPrivate,
    dnsServers: () => Promise.resolve(null),
    invoicing: missing,
    temporal: missing,
    prometheusUrl: () => Promise.resolve(null),
    read: missing,
    close: () => Promise.resolve(),
  };
}

/** Waits for a condition that is asked for by a command line, which costs more than what it does: not without a pause. */
export const untilCommand = (what: string, holds: () => Promise<boolean>): Promise<void> =>
  until(what, async () => {
    if (await holds()) return true;
    await delay(COMMAND_PAUSE_MS);
    return false;
  });

/** What the command line needs of a pipeline. */
type Served = Pick<Pipeline, 'sql' | 'client'>;

/**
 * The command line inside this process, against the database and the Temporal server of a pipeline.
 * @param temporal instead of the pipeline's, for a Temporal server that cannot be reached
 */
export function pipelineLine(pipeline: () => Served, temporal?: () => Promise<Client>) {
  const url = (): string => {
    const { host, port, user, pass, database } = pipeline().sql.options;
    return `postgres://${user}:${String(pass)}@${host[0]}:${port[0]}/${database}`;
  };
  return commandLine(url, () => ({
    ...noTools(),
    temporal: temporal ?? (() => Promise.resolve(pipeline().client)),
  }));
}

/** The command line inside this process, against a database; its first word may be several, with blanks between. */
export function commandLine(url: () => string, openTools = noTools) {
  const run = async (...line: string[]): Promise<Run> => {
    let out = '';
    let err = '';
    const words = line.flatMap((word, index) => (index < 2 ? word.split(' ') : word));
    const code = await runAdmin(words, {
      actor: () => ACTOR,
      openDatabase: () => Promise.resolve(openDatabase(url(), 1)),
      openTools,
      out: (text) => (out += text),
      err: (text) => (err += text),
    });
    return { code, out, err };
  };
  return {
    run,
    /** Expects success and gives the answer. */
    ok: async (...line: string[]): Promise<Answer> => {
      const { code, out, err } = await run('--json', ...line);
      expect(err).toBe('');
      expect(code).toBe(0);
      return oneObject(out);
    },
    /** Expects a refusal and gives it. */
    no: async (...line: string[]): Promise<{ code: string; message: string }> => {
      const { code, out, err } = await run('--json', ...line);
      expect({ code, out }).toEqual({ code: 1, out: '' });
      return oneError(err);
    },
  };
}
