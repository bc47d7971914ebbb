import { AsyncLocalStorage } from 'node:async_hooks';
import { prefixOf } from '../domain/ids.ts';

export interface Ids {
  requestId?: string;
  accountId?: string;
  messageId?: string;
  eventId?: string;
  replyId?: string;
  lookupId?: string;
  emailId?: string;
  verificationId?: string;
}

const FIELDS: Readonly<Record<string, keyof Ids>> = {
  req: 'requestId',
  cl: 'accountId',
  msg: 'messageId',
  evt: 'eventId',
  in: 'replyId',
  hlr: 'lookupId',
  em: 'emailId',
  ver: 'verificationId',
};

const current = new AsyncLocalStorage<Ids>();

/** Sorts identifiers by type; anything that is none of ours is left out. */
export function idsAmong(values: readonly unknown[]): Ids {
  const ids: Ids = {};
  for (const value of values) {
    const prefix = typeof value === 'string' ? prefixOf(value) : null;
    const field = prefix === null ? undefined : FIELDS[prefix];
    if (field !== undefined) ids[field] ??= value as string;
  }
  return ids;
}

/** Runs work whose log lines carry these ids and those that it adds. */
export function withIds<T>(ids: Ids, work: () => T): T {
  return current.run(ids, work);
}

export function addIds(ids: Ids): void {
  const known = current.getStore();
  if (known !== undefined) Object.assign(known, ids);
}

export function currentIds(): Ids {
  return current.getStore() ?? {};
}
