import type { Database } from '../../db/connection.ts';

/** Keeps every submit waiting just before it leaves, until it is let go. */
export async function holdSubmits(sql: Database): Promise<() => Promise<void>> {
  const own = await sql.reserve();
  await own`begin`;
  await own`lock table message_parts in share mode`;
  return async () => {
    await own`rollback`;
    own.release();
  };
}
