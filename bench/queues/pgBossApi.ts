import { charge } from '../steps/database.ts';
import { serveAccepting } from '../steps/http.ts';
import { stopOnSignal } from '../steps/signals.ts';
import { openPgBoss } from './pgBoss.ts';

/** Writes message, charge and job in one transaction. */
const { boss, sql, thenEnqueue } = await openPgBoss();
const stop = await serveAccepting((message) =>
  thenEnqueue(async (tx) => {
    await charge(tx, message);
    return { queue: 'submit', data: { id: message.id } };
  }),
);
stopOnSignal(async () => {
  stop();
  await boss.stop({ graceful: false });
  await sql.end({ timeout: 5 });
  process.exit();
});
