import { readKeys, type ShownKey } from '../../db/accounts/keys.ts';
import { ALL_SCOPES, MANAGERS } from '../../domain/actor.ts';
import { addDays, parseDay, polishDay, startOfDay } from '../../domain/calendar.ts';
import { isOneLine } from '../../domain/ids.ts';
import { TOKEN_LABEL_LENGTH } from '../../domain/money.ts';
import { canonicalText, isBlank } from '../../domain/text.ts';
import {
  createKey,
  createToken,
  revokeKey,
  revokeToken,
  rotateKey,
  rotateToken,
} from '../../operations/accounts/keys.ts';
import { asking, requireActive } from '../ask.ts';
import { accountPage, type Answer, type MemberVisit } from '../route.ts';
import { Keys, type Typed, NewKey } from './view.tsx';
import { words } from './words.ts';

// Revoked ones come last.
const SHOWN_MAX = 200;
const UNTYPED: Typed = { kind: 'key', label: '', ends: '', scopes: ALL_SCOPES, fault: null };
const EARLIER_PREFIX = 'goniec_';

async function page(visit: MemberVisit, typed: Typed = UNTYPED): Promise<Answer> {
  const { services, account, language } = visit;
  const keys: ShownKey[] = await readKeys(services.sql, account.id, SHOWN_MAX);
  const status = typed.fault === null ? 200 : 422;
  const hasOldTestKey = account.mode === 'live' && keys.some(({ mode, valid }) => valid && mode === 'test');
  const view = <Keys {...{ language, keys, hasOldTestKey, typed }} />;
  return { status, title: words[language].heading, view };
}

async function create(visit: MemberVisit): Promise<Answer> {
  requireActive(visit);
  const { form, account, language } = visit;
  const say = words[language];
  const typed = {
    kind: form.get('kind') === 'token' ? ('token' as const) : ('key' as const),
    label: canonicalText(form.get('label') ?? '').trim(),
    ends: form.get('ends') ?? '',
    scopes: ALL_SCOPES.filter((scope) => form.has(`scope-${scope}`)),
  };
  const { kind, label, ends, scopes } = typed;
  const again = (field: string, text: string) => page(visit, { ...typed, fault: { field, text } });
  if (isBlank(label) || [...label].length > TOKEN_LABEL_LENGTH || !isOneLine(label))
    return again('label', say.labelFault);
  const lastDay = ends === '' ? null : parseDay(ends);
  if (ends !== '' && (lastDay === null || lastDay < polishDay(Date.now())))
    return again('ends', say.endsFault);
  const expiresAt = lastDay === null ? null : new Date(startOfDay(addDays(lastDay, 1)));
  const wanted = { account: account.id, label, expiresAt };
  if (kind === 'token') return made(visit, (await createToken(asking(visit, wanted))).token);
  if (scopes.length === 0) return again('scope-send', say.scopesFault);
  return made(visit, (await createKey(asking(visit, { ...wanted, scopes }))).key, scopes.includes('send'));
}

/** A new key or token, this once: it is not stored, and leads to no other address that would have to know it. */
function made({ language, services }: MemberVisit, secret: string, sends = true): Answer {
  const isEarlier = secret.startsWith(EARLIER_PREFIX);
  const url = services.publicUrl ?? services.panelUrl;
  const view = <NewKey {...{ language, secret, sends, isEarlier, url }} />;
  return { status: 200, title: words[language].madeHeading, view };
}

/** Declares the form of an act on a key or token, which the address names. */
function act(path: string, post: (visit: MemberVisit, id: string) => Promise<Answer>) {
  const handlers = { post: (visit: MemberVisit) => post(visit, visit.params['id'] ?? ''), stepUp: true };
  return accountPage(path, MANAGERS, handlers);
}

const BACK = { to: '/panel/keys' };
const graceOf = ({ form }: MemberVisit) => ({ grace: form.has('grace') });

export const keyRoutes = [
  accountPage('/panel/keys', MANAGERS, { get: (visit) => page(visit), post: create, stepUp: true }),
  act('/panel/keys/:id/revoke', async (visit, key) => {
    await revokeKey(asking(visit, { key }));
    return BACK;
  }),
  act('/panel/keys/:id/rotate', async (visit, key) => {
    const rotated = await rotateKey(asking(visit, { key, ...graceOf(visit) }));
    return made(visit, rotated.key, rotated.scopes.includes('send'));
  }),
  act('/panel/tokens/:id/revoke', async (visit, token) => {
    await revokeToken(asking(visit, { token }));
    return BACK;
  }),
  act('/panel/tokens/:id/rotate', async (visit, token) => {
    const rotated = await rotateToken(asking(visit, { token, ...graceOf(visit) }));
    return made(visit, rotated.token);
  }),
];
