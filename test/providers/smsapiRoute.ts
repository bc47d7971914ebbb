import { callBack, reportFields } from '../smsapi/callbacks.ts';
import type { Provider, TakenSms } from '../smsapi/provider.ts';
import { type Product, untilBound } from '../support/product.ts';

const DELIVERED = 404;

/** The addresses that the provider calls. */
export interface Callbacks {
  reports: string;
  replies: string;
  lookups: string;
}

/**
 * Adds a route to the provider as an operator does, by the command line, its token by standard input, and waits until all
 * workers have it.
 * @param wish its window and its rate, both as usual unless given; how many workers there are, two unless given; how long an answer is
 *   waited for, two seconds unless given
 * @returns what the command said
 */
export async function addSmsapiRoute(
  product: Product,
  provider: Provider,
  {
    window,
    rate,
    workers = 2,
    responseSeconds = 2,
  }: { window?: number; rate?: number; workers?: number; responseSeconds?: number } = {},
): Promise<{ said: unknown; callbacks: Callbacks }> {
  const settings = {
    ...{ url: provider.url, callbackUrl: product.service.apiUrl, responseSeconds },
    // Tests run at night as well.
    callingHours: '00:00-24:00',
    ...(window === undefined ? {} : { window }),
  };
  const said: unknown = await product.admin(
    [
      ...['routes', 'add', '--name', 'smsapi', '--kind', 'smsapi', '--settings', JSON.stringify(settings)],
      ...['--prefix', '48', '--broken-after', '2', '--credentials', '-'],
      ...(rate === undefined ? [] : ['--rate', String(rate)]),
    ],
    provider.token,
  );
  await untilBound(product.sql, 'smsapi', workers);
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
