import { z } from 'zod';

const KEY_MAX = 128;

/** What every tool that sends takes beside what the endpoint does. */
export const SENDING_ARGUMENTS = z.strictObject({
  dry_run: z
    .boolean()
    .optional()
    .describe('true: shows what the call would send and cost, and sends nothing.'),
  confirm: z
    .boolean()
    .optional()
    .describe('true: the user has seen recipients and cost, and agrees. Needed for large sends.'),
  idempotency_key: z
    .string()
    .min(1)
    .max(KEY_MAX)
    .optional()
    .describe(
      'Calls with the same key send once within 24 hours. Left out, the arguments themselves are the key. Give a new one to send the same thing again on purpose.',
    ),
});

/** As they came, with what is left of the arguments. */
export interface SendingArguments {
  dryRun: boolean;
  confirmed: boolean;
  idempotencyKey: string | undefined;
}
