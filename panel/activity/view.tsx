import type { Activity } from '../../db/accounts/audit.ts';
import type { Member } from '../../db/people/members.ts';
import { ROLES } from '../../domain/actor.ts';
import { prefixOf } from '../../domain/ids.ts';
import { type Language, moment } from '../language.ts';
import { Filters, Listing, Select } from '../parts.tsx';
import { words as common } from '../words.ts';
import { words } from './words.ts';

const PATH = '/panel/activity';

interface Props {
  language: Language;
  rows: readonly Activity[];
  members: readonly Member[];
  query: URLSearchParams;
  next: string | null;
}

export function ActivityLog({ language, rows, members, query, next }: Props) {
  const say = words[language];
  const people = Object.fromEntries(members.map(({ id, address }) => [id, address]));
  return (
    <>
      <p>{say.lead}</p>
      <Filters language={language} path={PATH}>
        <Select
          name="person"
          label={say.person}
          options={{ '': say.everybody, ...people }}
          value={query.get('person') ?? ''}
        />
        <Select
          name="kind"
          label={say.kind}
          options={{ '': say.all, ...say.kinds }}
          value={query.get('kind') ?? ''}
        />
      </Filters>
      <Listing
        {...{ language, path: PATH, query, next }}
        label={say.heading}
        columns={say.columns}
        rows={rows.map((row) => (
          <tr>
            <td>{moment(language, row.at)}</td>
            <td>{who(language, row)}</td>
            <td>
              {what(language, row.action)} <span class="hint">{about(language, row)}</span>
            </td>
            <td>{row.address}</td>
          </tr>
        ))}
        none={say.none}
      />
    </>
  );
}

/** Never the name of one of the staff. */
function who(language: Language, { actor, person, label, hint }: Activity): string {
  const say = words[language];
  const prefix = prefixOf(actor);
  if (prefix === 'per') return person ?? say.gone;
  if (prefix === 'key' || prefix === 'tok')
    return [say.key, label, hint].filter((part) => part !== null).join(' ');
  return say.support;
}

function what(language: Language, action: string): string {
  const kinds: readonly Record<string, string>[] = Object.values(words[language].actions);
  return kinds.find((actions) => Object.hasOwn(actions, action))?.[action] ?? action;
}

/** What is told of the details: names and roles, and nothing that staff noted but why they looked. */
function about(language: Language, { action, details }: Activity): string {
  const { roles } = common[language];
  const why = action === 'account visit' ? details['reason'] : null;
  const { label, hint, from, address, role } = details;
  const { from: before = role, to: after } = (role ?? {}) as { from?: unknown; to?: unknown };
  const changed = [before, after]
    .flatMap((one) => ROLES.filter((known) => known === one))
    .map((one) => roles[one]);
  return [[why, label, hint], [from, address].filter(isText).join(' → '), changed.join(' → ')]
    .flat()
    .filter(isText)
    .join(', ');
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
