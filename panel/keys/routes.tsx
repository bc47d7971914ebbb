import { readKeys, type ShownKey } from '../../db/accounts/keys.ts';
import { ALL_SCOPES, KEY_MANAGERS } from '../../domain/actor.ts';
import { isOneLine } from '../../domain/ids.ts';
import { TOKEN_LABEL_LENGTH } from '../../domain/money.ts';
import { canonicalText, isBlank } from '../../domain/text.ts';
import { createKey, revokeKey, revokeToken, rotateToken } from '../../operations/accounts/keys.ts';
import { asking } from '../ask.ts';
import { accountPage, type Answer, type MemberVisit } from '../route.ts';
import { Keys, type Typed, NewKey } from './view.tsx';
import { words } from './words.ts';

// Revoked ones come last.
const SHOWN_MAX = 200;
const UNTYPED: Typed = { label: '', scopes: ALL_SCOPES, fault: null };

async function page(visit: MemberVisit, typed: Typed = UNTYPED): Promise<Answer> {
  const { services, account, language } = visit;
  const keys: ShownKey[] = await readKeys(services.sql, account.id, SHOWN_MAX);
  const status = typed.fault === null ? 200 : 422;
  return { status, title: words[language].heading, view: <Keys {...{ language, keys, typed }} /> };
}

async function create(visit: MemberVisit): Promise<Answer> {
  const { form, account, language } = visit;
  const say = words[language];
  const label = canonicalText(form.get('label') ?? '').trim();
  const scopes = ALL_SCOPES.filter((scope) => form.has(`scope-${scope}`));
  if (isBlank(label) || [...label].length > TOKEN_LABEL_LENGTH || !isOneLine(label))
    return page(visit, { label, scopes, fault: { field: 'label', text: say.labelFault } });
  if (scopes.length === 0)
    return page(visit, { label, scopes, fault: { field: 'scope-send', text: say.scopesFault } });
  const { key } = await createKey(asking(visit, { account: account.id, label, scopes }));
  return made(visit, key, scopes.includes('send'));
}

/** A new key or token, this once: it is not stored, and leads to no other address that would have to know it. */
function made({ language, services }: MemberVisit, secret: string, sends: boolean): Answer {
  const view = <NewKey {...{ language, secret, sends, url: services.publicUrl ?? services.panelUrl }} />;
  return { status: 200, title: words[language].madeHeading, view };
}

const idOf = ({ params }: MemberVisit): string => params['id'] ?? '';

export const keyRoutes = [
  accountPage('/panel/keys', KEY_MANAGERS, { get: (visit) => page(visit), post: create, stepUp: true }),
  accountPage('/panel/keys/:id/revoke', KEY_MANAGERS, {
    stepUp: true,
    async post(visit) {
      await revokeKey(asking(visit, { key: idOf(visit) }));
      return { to: '/panel/keys' };
    },
  }),
  accountPage('/panel/tokens/:id/revoke', KEY_MANAGERS, {
    stepUp: true,
    async post(visit) {
      await revokeToken(asking(visit, { token: idOf(visit) }));
      return { to: '/panel/keys' };
    },
  }),
  accountPage('/panel/tokens/:id/rotate', KEY_MANAGERS, {
    stepUp: true,
    async post(visit) {
      const { token } = await rotateToken(asking(visit, { token: idOf(visit) }));
      return made(visit, token, false);
    },
  }),
];
