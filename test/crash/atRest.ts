import { Client, Connection } from '@temporalio/client';
import { expect } from 'vitest';
import { openDatabase } from '../../db/connection.ts';
import { countUnanswered, findViolations, type Scene, untilAtRest } from './findings.ts';
import type { Installation } from './installation.ts';

/** Where the load ran. */
type Place = Pick<Installation, 'databaseUrl' | 'temporalAddress' | 'apiUrls'>;

/** Waits until nothing moves, and checks that everything is as it was promised. */
export async function checkAtRest(
  { databaseUrl, temporalAddress, apiUrls }: Place,
  known: Pick<Scene, 'accounts' | 'receiver' | 'told' | 'endedWorkflowsForgotten'>,
): Promise<void> {
  const sql = openDatabase(databaseUrl, 2);
  const connection = await Connection.connect({ address: temporalAddress });
  try {
    const scene: Scene = { sql, client: new Client({ connection }), apiUrl: apiUrls[0]!, ...known };
    const asked = Date.now();
    const { moving, last } = await untilAtRest(scene);
    const seconds = ((Date.now() - asked) / 1000).toFixed(1);
    const messages = known.told.flatMap((each) => each.messages).length;
    const { proved, open } = await countUnanswered(scene);
    console.log(
      `  at rest after ${seconds} s: ${messages} messages; submits without a stored answer: ` +
        `${proved} proved by a report, ${open} open`,
    );
    if (last.length > 0) console.log(`  the last to come to rest: ${last.slice(0, 3).join('; ')}`);
    expect(moving, 'in flight for ever').toEqual([]);
    expect(await findViolations(scene)).toEqual([]);
  } finally {
    await connection.close();
    await sql.end({ timeout: 5 });
  }
}
