import { staffPasskeys } from '../../db/people/staff.ts';
import { isOneLine } from '../../domain/ids.ts';
import { STAFF_ROLES } from '../../domain/staff.ts';
import { hasPasskeys } from '../../operations/people/passkeys.ts';
import {
  addPasskeyOfStaff,
  newPasskeyQuestion,
  removePasskeyOfStaff,
} from '../../operations/people/staffSignIn.ts';
import { PASSKEY_SCRIPT, PasskeyForm } from '../../panel/confirm/view.tsx';
import { moment } from '../../panel/language.ts';
import { Act, Facts, Field, Summary, Table } from '../../panel/parts.tsx';
import type { Answer } from '../../panel/route.ts';
import { staffPage, type StaffVisit } from '../route.ts';
import { problemPage } from '../shell.tsx';

const LABEL_MAX = 100;
const language = 'en';
// Whoever finds a browser signed in makes no way in that lasts.
const NOT_FRESH = 'A passkey is added within ten minutes of signing in: sign out and in again.';

async function page(visit: StaffVisit, fault: string | null = null): Promise<Answer> {
  const { services, staff } = visit;
  const passkeys = await staffPasskeys(services.sql, staff.id);
  const question = staff.isFresh && hasPasskeys(services) ? await newPasskeyQuestion(services, staff) : null;
  const view = (
    <>
      <Summary language={language} fault={fault === null ? null : { field: null, text: fault }} />
      <Facts
        rows={[
          ['Name', staff.name],
          ['Address', staff.address],
          ['Role', staff.role],
        ]}
      />
      <section>
        <h2>Passkeys</h2>
        {passkeys.length === 0 ? (
          <p>None yet: you sign in with an e-mail and your authenticator app.</p>
        ) : (
          <Table label="Passkeys" columns={['Name', 'Added', 'Last used', '']}>
            {passkeys.map(({ id, label, createdAt, lastUsedAt }) => (
              <tr>
                <th scope="row">{label}</th>
                <td>{moment(language, createdAt)}</td>
                <td>{lastUsedAt === null ? 'never' : moment(language, lastUsedAt)}</td>
                <td>
                  <Act
                    name={label}
                    open="Remove"
                    act="Remove"
                    text="It signs nobody in any more."
                    to="/console/you/passkeys/remove"
                    fields={{ passkey: id }}
                  />
                </td>
              </tr>
            ))}
          </Table>
        )}
        {question === null ? (
          <p>{hasPasskeys(services) ? NOT_FRESH : 'Browsers make passkeys for names of hosts alone.'}</p>
        ) : (
          <PasskeyForm
            {...{ language, options: question }}
            action="/console/you/passkeys"
            fields={{ challenge: question.challenge }}
            button="Add a passkey"
          >
            <Field name="label" label="Name of the passkey" required maxLength={LABEL_MAX} />
          </PasskeyForm>
        )}
      </section>
    </>
  );
  return { status: fault === null ? 200 : 422, title: 'You', view, script: PASSKEY_SCRIPT };
}

async function add(visit: StaffVisit): Promise<Answer> {
  const { services, staff, form } = visit;
  if (!staff.isFresh) return await page(visit, NOT_FRESH);
  const label = (form.get('label') ?? '').trim();
  if (label === '' || [...label].length > LABEL_MAX || !isOneLine(label))
    return await page(visit, `A name of 1 to ${LABEL_MAX} characters is needed.`);
  const answered = { challenge: form.get('challenge') ?? '', response: form.get('response') ?? '' };
  const added = await addPasskeyOfStaff(services, staff, { label, ...answered });
  return added ? { to: '/console/you' } : await page(visit, 'This passkey could not be added. Try again.');
}

export const youRoutes = [
  staffPage('/console/you', STAFF_ROLES, { get: (visit) => page(visit) }),
  staffPage('/console/you/passkeys', STAFF_ROLES, { get: () => ({ to: '/console/you' }), post: add }),
  staffPage('/console/you/passkeys/remove', STAFF_ROLES, {
    async post({ services, staff, form }) {
      const removed = await removePasskeyOfStaff(services, staff, form.get('passkey') ?? '');
      return removed ? { to: '/console/you' } : problemPage(404);
    },
  }),
];
