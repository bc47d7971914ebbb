import { emailEndpoints } from '../email/endpoints.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { describedOnce } from '../openapi/endpoint.ts';
import type { OpenApi } from '../openapi/types.ts';
import { getBalance } from './balance.ts';
import { sendBulk } from './bulk.ts';
import { getHlr } from './hlr.ts';
import { listEarlierMessages } from './messages.ts';
import { sendEarlierMms } from './mms.ts';
import { EARLIER, earlierOpenApi } from './openapi.ts';
import { sendEarlierSms } from './sms.ts';
import { sendEarlierVoice } from './vms.ts';

/** The whole of the earlier interface (v1.2.0). */
export const earlierEndpoints: readonly Endpoint[] = [
  sendEarlierSms,
  sendBulk,
  sendEarlierMms,
  sendEarlierVoice,
  // The document has e-mail in this interface alone; that keys may send it too is ours.
  ...emailEndpoints('v1').map((one): Endpoint => ({ ...one, answersStrangers: true })),
  getHlr,
  listEarlierMessages,
  getBalance,
  earlierOpenApi(earlierDocument),
];

/** Its OpenAPI document. */
export function earlierDocument(): OpenApi {
  return describedOnce(earlierEndpoints, EARLIER);
}
