import { changeAccount, getAccount } from './account/account.ts';
import { extendBlacklist, listBlacklist, shortenBlacklist } from './blacklist.ts';
import { listContacts } from './contacts/list.ts';
import { saveContacts } from './contacts/save.ts';
import { changeContact, deleteContact, getContact } from './contacts/single.ts';
import { emailEndpoints } from './email/endpoints.ts';
import type { Endpoint } from './http/endpoint.ts';
import { createGroup, deleteGroup, getGroup, listGroups, renameGroup } from './groups/crud.ts';
import { addGroupContacts, removeGroupContact } from './groups/members.ts';
import { getHealth } from './health.ts';
import { getInbound, listInbound } from './inbound.ts';
import { getLink, listLinks } from './links.ts';
import { lookUpNumber } from './lookup.ts';
import { cancelMessage } from './messages/cancel.ts';
import { estimateMessages, estimateMms, estimateVoice } from './messages/estimate.ts';
import { listMessageEvents } from './messages/events.ts';
import { getMessage, listMessages } from './messages/history.ts';
import { sendMms } from './messages/mms.ts';
import { sendMessages } from './messages/send.ts';
import { sendVoice } from './messages/voice.ts';
import { openApiEndpoint } from './openapi/endpoint.ts';
import { getReport } from './reports.ts';
import { listSenders } from './senders.ts';
import { changeTemplate, createTemplate, deleteTemplate, getTemplate, listTemplates } from './templates.ts';
import { changeWebhook } from './account/webhook.ts';
import { listDeliveries, resendDelivery } from './account/webhookDeliveries.ts';

/** The whole interface. */
export const endpoints: readonly Endpoint[] = [
  sendMessages,
  sendMms,
  sendVoice,
  ...emailEndpoints('v2'),
  estimateMessages,
  estimateMms,
  estimateVoice,
  listMessages,
  getMessage,
  listMessageEvents,
  cancelMessage,
  getAccount,
  changeAccount,
  listSenders,
  changeWebhook,
  listDeliveries,
  resendDelivery,
  listBlacklist,
  extendBlacklist,
  shortenBlacklist,
  listTemplates,
  createTemplate,
  getTemplate,
  changeTemplate,
  deleteTemplate,
  lookUpNumber,
  listInbound,
  getInbound,
  listLinks,
  getLink,
  getReport,
  listContacts,
  saveContacts,
  getContact,
  changeContact,
  deleteContact,
  listGroups,
  createGroup,
  getGroup,
  renameGroup,
  deleteGroup,
  addGroupContacts,
  removeGroupContact,
  getHealth,
  openApiEndpoint(() => endpoints),
];
