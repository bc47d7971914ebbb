import { z } from 'zod';
import type { Separate } from './installation.ts';

/** Makes a live account that pays by balance, and a token of it that no rate limit holds up. */
export async function createMailAccount(
  service: Separate,
  openingGrosze: number,
): Promise<{ id: string; token: string }> {
  const created = await service.admin(
    ...['accounts', 'create', '--name', 'Mail', '--mode', 'live', '--balance', String(openingGrosze)],
    ...['--price', '10'],
  );
  const id = z.string().parse(created['id']);
  const made = await service.admin(
    ...['tokens', 'create', '--account', id, '--label', 'crash', '--rate-limit', '10000'],
  );
  return { id, token: z.string().parse(made['token']) };
}
