import { transaction } from '../../db/connection.ts';
import { charge, openPool } from '../steps/database.ts';
import { serveAccepting } from '../steps/http.ts';
import { stopOnSignal } from '../steps/signals.ts';
import { setting } from '../steps/settings.ts';
import { openQueues } from './bullmq.ts';

/** Writes message and charge, then puts the job into Redis. */
const sql = openPool(setting('DATABASE_URL'));
const queues = openQueues(sql);
const stop = await serveAccepting((message) =>
  queues.thenEnqueue(async () => {
    await transaction(sql, (tx) => charge(tx, message));
    return { queue: 'submit', data: { id: message.id } };
  }),
);
stopOnSignal(async () => {
  stop();
  await queues.close();
  await sql.end({ timeout: 5 });
});
