import type { Scope } from '../../../domain/actor.ts';

/**
 * The scope of every endpoint with a key, stated here on its own: by the document (v2.3.0, Endpoints and Authentication), and for
 * endpoints that the document does not have, by what it says each scope allows.
 */
export const SCOPES: Readonly<Record<string, Scope>> = {
  'POST /v1/messages': 'send',
  'DELETE /v1/messages/:id': 'send',
  'GET /v1/messages': 'read',
  'GET /v1/messages/:id': 'read',
  'GET /v1/account': 'read',
  'PATCH /v1/account': 'manage',
  'GET /v1/senders': 'read',
  'PUT /v1/account/webhook': 'manage',
  'GET /v1/blacklist': 'read',
  'POST /v1/blacklist': 'manage',
  'DELETE /v1/blacklist/:msisdn': 'manage',
  'GET /v1/templates': 'read',
  'POST /v1/templates': 'manage',
  'GET /v1/templates/:id': 'read',
  'PATCH /v1/templates/:id': 'manage',
  'DELETE /v1/templates/:id': 'manage',
  'GET /v1/numbers/:msisdn/lookup': 'send',
  'GET /v1/inbound': 'read',
  'GET /v1/inbound/:id': 'read',
  'GET /v1/links': 'read',
  'GET /v1/links/:token': 'read',
  'GET /v1/reports': 'read',
  'GET /v1/contacts': 'read',
  'POST /v1/contacts': 'manage',
  'GET /v1/contacts/:id': 'read',
  'PATCH /v1/contacts/:id': 'manage',
  'DELETE /v1/contacts/:id': 'manage',
  'GET /v1/groups': 'read',
  'POST /v1/groups': 'manage',
  'GET /v1/groups/:id': 'read',
  'PATCH /v1/groups/:id': 'manage',
  'DELETE /v1/groups/:id': 'manage',
  'POST /v1/groups/:id/contacts': 'manage',
  'DELETE /v1/groups/:id/contacts/:contactId': 'manage',
  // Not in the document. An estimate belongs to sending; repeating a delivery changes what the receiver gets.
  'POST /v1/mms': 'send',
  'POST /v1/voice': 'send',
  'POST /v1/verifications': 'send',
  'POST /v1/verifications/:id/check': 'send',
  'GET /v1/verifications/:id': 'read',
  'POST /v1/messages/estimate': 'send',
  'POST /v1/mms/estimate': 'send',
  'POST /v1/voice/estimate': 'send',
  'GET /v1/messages/:id/events': 'read',
  'GET /v1/account/webhook/deliveries': 'read',
  'POST /v1/account/webhook/deliveries/:id/resend': 'manage',
  // Of the earlier document, open to keys of the current interface too, and ours beside it.
  'POST /v1/email': 'send',
  'GET /v1/email': 'read',
  'GET /v1/email/:id': 'read',
  'GET /v1/email/suppressions': 'read',
  'POST /v1/email/suppressions': 'manage',
  'DELETE /v1/email/suppressions/:address': 'manage',
};

/** Endpoints that need no key. */
export const OPEN: readonly string[] = ['GET /v1/health', 'GET /v1/openapi.json'];
