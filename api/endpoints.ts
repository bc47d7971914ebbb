import { changeAccount, getAccount } from './account/account.ts';
import { extendBlacklist, listBlacklist, shortenBlacklist } from './blacklist.ts';
import { changeContact, deleteContact, getContact, listContacts } from './contacts/contacts.ts';
import { saveContacts } from './contacts/import.ts';
import { emailEndpoints } from './email/read.ts';
import type { Endpoint } from './http/endpoint.ts';
import {
  addGroupContacts,
  createGroup,
  deleteGroup,
  getGroup,
  listGroups,
  removeGroupContact,
  renameGroup,
} from './groups.ts';
import { getHealth } from './health.ts';
import { getInbound, listInbound } from './inbound.ts';
import { getLink, listLinks } from './links.ts';
import { lookUpNumber } from './lookup.ts';
import { cancelMessage, getMessage, listMessageEvents, listMessages } from './messages/history.ts';
import { estimateMessages, estimateMms, estimateVoice } from './messages/estimate.ts';
import { sendMessages, sendMms, sendVoice } from './messages/send.ts';
import { openApiEndpoint } from './openapi/document.ts';
import { getReport } from './reports.ts';
import { listSenders } from './senders.ts';
import { changeTemplate, createTemplate, deleteTemplate, getTemplate, listTemplates } from './templates.ts';
import { checkVerification, getVerification, startVerification } from './verifications.ts';
import { changeWebhook, listDeliveries, resendDelivery } from './account/webhook.ts';

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
  startVerification,
  getVerification,
  checkVerification,
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
