import type { Interface } from '../../domain/interfaces.ts';
import type { Endpoint } from '../http/endpoint.ts';
import { getEmail, listEmails } from './read.ts';
import { sendEmail } from './send.ts';
import { addSuppressions, listSuppressions, removeSuppression } from './suppressions.ts';

/**
 * E-mail (v1.2.0, POST /v1/email, and ours beyond it): either kind of key may ask, and is answered alike, but for errors, which have
 * the form of its interface.
 */
export function emailEndpoints(owner: Interface): Endpoint[] {
  return [
    sendEmail(owner),
    listEmails(owner),
    listSuppressions(owner),
    addSuppressions(owner),
    removeSuppression(owner),
    getEmail(owner),
  ];
}
