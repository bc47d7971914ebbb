import { type Database, transaction } from '../../db/connection.ts';
import type { OpenProvider } from '../steps/provider.ts';
import * as database from '../steps/database.ts';
import type { NewMessage } from '../steps/http.ts';
import type { createWebhook } from '../steps/webhook.ts';

/** The steps of the plain pipeline. */
export function activities(sql: Database, provider: OpenProvider, webhook: ReturnType<typeof createWebhook>) {
  return {
    charge: (message: NewMessage): Promise<void> => transaction(sql, (tx) => database.charge(tx, message)),

    submit: (message: NewMessage): Promise<string> => provider.submit(message),

    /** Returns whether the delivery report was there before the answer. */
    async storeAnswer(id: string, providerId: string): Promise<boolean> {
      await database.storeAnswer(sql, id, providerId);
      return (await database.conclude(sql, providerId)) !== null;
    },

    async sendWebhook(id: string, type: string): Promise<void> {
      await webhook.post(await database.readMessage(sql, id), type);
    },
  };
}
