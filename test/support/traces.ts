import type { Client } from '@temporalio/client';
import { byColumnName, type Database } from '../../db/connection.ts';

/** Columns in which words are found, as `table.column` (other schemas than `public` by name), and in how many rows. */
export type Found = Record<string, number>;

// Bytes are shown in hexadecimal, and hold UTF-8 or the two octets of UCS-2.
const spellings = (word: string): string[] => {
  const ucs2 = Buffer.from(word, 'utf16le').swap16().toString('hex');
  return [word, Buffer.from(word).toString('hex'), ucs2];
};

/**
 * Looks into every column of every table of every schema, those that are added later included.
 * @param words of letters, digits, `-` and `@`; in any case
 * @param of only rows that name this somewhere, an account's id say
 */
export async function searchDatabase(sql: Database, words: readonly string[], of = ''): Promise<Found> {
  const pattern = words.flatMap(spellings).join('|').replaceAll('.', '\\.');
  const tables = await sql<{ schema: string; name: string; columns: string[] }[]>`
    select t.table_schema as schema, t.table_name as name, array_agg(c.column_name::text) as columns
      from information_schema.tables t join information_schema.columns c using (table_schema, table_name)
     where t.table_type = 'BASE TABLE'
     group by 1, 2 order by 1, 2`;
  const found: Found = {};
  for (const { schema, name, columns } of tables) {
    const [counts] = await sql<Found[]>`
      select ${columns.map(
        (column, i) => sql`${i === 0 ? sql`` : sql`,`}
          count(*) filter (where t.${sql(column)}::text ~* ${pattern})::int as ${sql(column)}`,
      )} from ${sql(schema)}.${sql(name)} t where ${of} = '' or t::text like ${`%${of}%`}`;
    for (const [column, count] of Object.entries(byColumnName(counts!))) {
      if (count > 0) found[`${schema === 'public' ? '' : `${schema}.`}${name}.${column}`] = count;
    }
  }
  return found;
}

/** Looks into all that Temporal has: every workflow's memo, search attributes, details, and each step of its history. */
export async function searchTemporal(client: Client, words: readonly string[]): Promise<string[]> {
  const pattern = new RegExp(words.join('|').replaceAll('.', '\\.'), 'i');
  const found: string[] = [];
  let workflows = 0;
  for await (const { workflowId, runId, raw } of client.workflow.list()) {
    workflows += 1;
    const handle = client.workflow.getHandle(workflowId, runId);
    const described = await handle.describe();
    const history = await handle.fetchHistory();
    if (pattern.test(readable([raw, described.raw, history]))) found.push(workflowId);
  }
  for await (const schedule of client.schedule.list()) {
    const { raw } = await client.schedule.getHandle(schedule.scheduleId).describe();
    if (pattern.test(readable([schedule, raw]))) found.push(schedule.scheduleId);
  }
  if (workflows === 0) throw new Error('Temporal lists no workflows');
  return found;
}

// Messages of Temporal's protocol make texts of octets themselves, before anybody else comes to them: payloads are base64 then.
function readable(value: unknown): string {
  const text = JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'bigint'
      ? String(part)
      : part instanceof Uint8Array
        ? Buffer.from(part).toString('base64')
        : part,
  );
  const octets = [...text.matchAll(/"([A-Za-z0-9+/]{4,}={0,2})"/g)].map(([, data]) =>
    Buffer.from(data!, 'base64').toString('utf8'),
  );
  return [text, ...octets].join('\n');
}
