/** Every workflow the workers run. */
export { click } from './click.ts';
export { email } from './email.ts';
export { domain, senderDomains } from './senderDomains.ts';
export { inbound } from './inbound.ts';
export { lookup } from './lookup.ts';
export { cleanUp, retention } from './maintenance.ts';
export { message } from './message.ts';
export { reconciliation } from './reconciliation.ts';
export { resend } from './resend.ts';
