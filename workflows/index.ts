export { email } from './email.ts';
export { senderDomains } from './regularWork.ts';
export { inbound } from './inbound.ts';
export { lookup } from './lookup.ts';
export { cleanUp, retention } from './regularWork.ts';
export { message } from './message.ts';
export { reconciliation, statements } from './regularWork.ts';
export { notify, resend } from './webhooks.ts';
export { topup } from './topup.ts';
