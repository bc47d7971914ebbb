import type { Database } from '../../db/connection.ts';
import { transaction } from '../../db/transaction.ts';
import type { OpenCarrier } from '../steps/carrier.ts';
import * as database from '../steps/database.ts';
import type { NewMessage } from '../steps/http.ts';
import type { createWebhook } from '../steps/webhook.ts';

/** The steps of the plain pipeline. */
export function activities(sql: Database, carrier: OpenCarrier, webhook: ReturnType<typeof createWebhook>) {
  return {
    charge: (message: NewMessage): Promise<void> => transaction(sql, (tx) => database.charge(tx, message)),

    submit: (message: NewMessage): Promise<string> => carrier.submit(message),

    /** Returns whether the delivery report was there before the answer. */
    async storeAnswer(id: string, carrierId: string): Promise<boolean> {
      await database.storeAnswer(sql, id, carrierId);
      return (await database.conclude(sql, carrierId)) !== null;
    },

    async sendWebhook(id: string, type: string): Promise<void> {
      await webhook.post(await database.readMessage(sql, id), type);
    },
  };
}
