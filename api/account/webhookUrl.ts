import { faultOfAddress } from '../../domain/webhookAddress.ts';
import { Refused } from '../../domain/refusals.ts';

/**
 * Checks the address of a webhook by `faultOfAddress`. Nothing is looked up: the answer tells nothing of our network.
 *
 * @param allowPrivate development and tests: http, any port, private names and addresses too
 * @throws Refused with param `url`
 */
export function checkWebhookUrl(input: string, allowPrivate: boolean): void {
  const reason = faultOfAddress(input, allowPrivate);
  if (reason !== null) throw new Refused({ reason }, 'url');
}
