/** Every workflow the workers run. */
export { click } from './inbound.ts';
export { email } from './email.ts';
export { domain, senderDomains } from './regularWork.ts';
export { inbound } from './inbound.ts';
export { lookup } from './lookup.ts';
export { cleanUp, retention } from './regularWork.ts';
export { message } from './message.ts';
export { reconciliation } from './regularWork.ts';
export { resend } from './webhooks.ts';
