import { emailEndpoints } from '../email/read.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { describeInterface } from '../openapi/document.ts';
import type { OpenApi } from '../openapi/schemas.ts';
import { getBalance, getHlr, listEarlierMessages } from './reads.ts';
import { sendBulk } from './bulk.ts';
import { sendEarlierMms, sendEarlierSms, sendEarlierVoice } from './sends.ts';
import { EARLIER, earlierOpenApi } from './openapi.ts';

/** All endpoints of the earlier interface (v1.2.0). */
export const earlierEndpoints: readonly Endpoint[] = [
  sendEarlierSms,
  sendBulk,
  sendEarlierMms,
  sendEarlierVoice,
  // Only v1.2.0 has e-mail; offering it to keys of the current interface is our addition.
  ...emailEndpoints('v1').map((one): Endpoint => ({ ...one, unauthenticatedFallback: true })),
  getHlr,
  listEarlierMessages,
  getBalance,
  earlierOpenApi(earlierDocument),
];

let document: OpenApi | undefined;

/** The OpenAPI document of the earlier interface. */
export function earlierDocument(): OpenApi {
  return (document ??= describeInterface(earlierEndpoints, EARLIER));
}
