import { callBack, reportFields } from '../smsapi/callbacks.ts';
import type { Provider, TakenSms } from '../smsapi/provider.ts';
import { type Product, untilBound } from '../support/product.ts';

const DELIVERED = 404;
const WORKERS = 2;

/** The addresses that the provider calls. */
export interface Callbacks {
  reports: string;
  replies: string;
  lookups: string;
}

/**
 * Adds a route to the provider as an operator does, by the command line, its token by standard input, and waits until both
 * workers have it.
 * @returns what the command said
 */
export async function addSmsapiRoute(
  product: Product,
  provider: Provider,
): Promise<{ said: unknown; callbacks: Callbacks }> {
  const settings = {
    ...{ url: provider.url, callbackUrl: product.service.apiUrl, responseSeconds: 2 },
    // Tests run at night as well.
    callingHours: '00:00-24:00',
  };
  const said: unknown = await product.admin(
    [
      ...['routes', 'add', '--name', 'smsapi', '--kind', 'smsapi', '--settings', JSON.stringify(settings)],
      ...['--prefix', '48', '--broken-after', '2', '--credentials', '-'],
    ],
    provider.token,
  );
  await untilBound(product.sql, 'smsapi', WORKERS);
  const told = await product.admin(['routes', 'callbacks', 'smsapi']);
  const callbacks = {
    reports: String(told['callback_reports']),
    replies: String(told['callback_replies']),
    lookups: String(told['callback_lookups']),
  };
  return { said, callbacks };
}

/** The provider reports a message, as delivered unless told otherwise. */
export const report = ({ notifyUrl, id, idx, to }: TakenSms, status = DELIVERED) =>
  callBack(notifyUrl!, reportFields([{ id, status, idx, to }]));
