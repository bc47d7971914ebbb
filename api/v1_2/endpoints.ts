import { emailEndpoints } from '../email/read.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { describedOnce } from '../openapi/document.ts';
import type { OpenApi } from '../openapi/schemas.ts';
import { getBalance, getHlr, listEarlierMessages } from './reads.ts';
import { sendBulk } from './bulk.ts';
import { sendEarlierMms, sendEarlierSms, sendEarlierVoice } from './sends.ts';
import { EARLIER, earlierOpenApi } from './openapi.ts';

/** The whole of the earlier interface (v1.2.0). */
export const earlierEndpoints: readonly Endpoint[] = [
  sendEarlierSms,
  sendBulk,
  sendEarlierMms,
  sendEarlierVoice,
  // The document has e-mail in this interface alone; that keys may send it too is ours.
  ...emailEndpoints('v1').map((one): Endpoint => ({ ...one, unauthenticatedFallback: true })),
  getHlr,
  listEarlierMessages,
  getBalance,
  earlierOpenApi(earlierDocument),
];

/** Its OpenAPI document. */
export function earlierDocument(): OpenApi {
  return describedOnce(earlierEndpoints, EARLIER);
}
