import { changeAccount, getAccount } from './account.ts';
import type { Endpoint } from './endpoint.ts';
import { getHealth } from './health.ts';
import { cancelMessage } from './messages/cancel.ts';
import { getMessage, listMessages } from './messages/history.ts';
import { sendMessages } from './messages/send.ts';
import { listSenders } from './senders.ts';
import { changeWebhook } from './webhook.ts';

/** The whole interface. */
export const endpoints: readonly Endpoint[] = [
  sendMessages,
  listMessages,
  getMessage,
  cancelMessage,
  getAccount,
  changeAccount,
  listSenders,
  changeWebhook,
  getHealth,
];
