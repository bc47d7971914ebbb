import type { Sql } from '../../db/connection.ts';
import { countClicks } from '../../db/links/links.ts';

/** Counts a click on a link, as a visit does. */
export async function clickOn(sql: Sql, token: string, { robot = false } = {}): Promise<void> {
  const [counted] = await countClicks(sql, [{ token, userAgent: null, ipHash: Buffer.of(1), robot }]);
  if (counted === null || counted === undefined || counted === 'locked') throw new Error('not counted');
}
