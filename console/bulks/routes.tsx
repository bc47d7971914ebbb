import { stringify } from 'csv-stringify/sync';
import { itemRecord, progress } from '../../commands/bulks.ts';
import { type BulkRow, listBulks, readBulk, readBulkItems } from '../../db/maintenance/bulks.ts';
import { COUNTED_MAX } from '../../db/messages/stuck.ts';
import { escapeFormula } from '../../domain/contacts.ts';
import { STAFF_ROLES } from '../../domain/staff.ts';
import { moment } from '../../panel/language.ts';
import { Facts, Listing, Results, Table } from '../../panel/parts.tsx';
import type { Answer } from '../../panel/route.ts';
import { commandPath, mayAsk, offered } from '../commands/offered.ts';
import { Id, words } from '../commands/result.tsx';
import { post as askFor } from '../commands/routes.tsx';
import { staffPage, type StaffVisit } from '../route.ts';
import { problemPage } from '../shell.tsx';

const PATH = '/console/bulks';
const START = 'bulks start';
const STOP = 'bulks stop';
const SHOWN = 50;
const language = 'en';

async function list({ services, staff, query }: StaffVisit): Promise<Answer> {
  const bulks = await listBulks(services.sql, SHOWN);
  const rows = bulks.map((bulk) => (
    <tr>
      <th scope="row">
        <Id id={bulk.id} />
      </th>
      <td>{bulk.action}</td>
      <td>{bulk.actor}</td>
      <td>{moment(language, bulk.createdAt)}</td>
      <td>{progress(bulk).state}</td>
      <td>{counts(bulk)}</td>
    </tr>
  ));
  const view = (
    <>
      {mayAsk(staff.role, START) ? (
        <p>
          <a href={commandPath(START)}>Act on many</a>
        </p>
      ) : null}
      <Listing
        {...{ language, path: PATH, query, next: null, rows }}
        live={bulks.some(({ endedAt }) => endedAt === null)}
        label="Bulk actions"
        columns={['Bulk', 'Action', 'By', 'Started', 'State', 'Items']}
        none="There is none yet."
      />
    </>
  );
  return { status: 200, title: 'Bulk actions', view };
}

const counts = ({ items, open, done, refused, unknown }: BulkRow): string =>
  `${items - open} of ${items}: ${done} done, ${refused} refused, ${unknown} unknown`;

async function show({ services, staff, params, path, query }: StaffVisit): Promise<Answer> {
  const bulk = await readBulk(services.sql, params['id'] ?? '');
  if (bulk === undefined) return problemPage(404);
  const { id, action, actor, grounds, filter, createdAt, endedAt, items, open } = bulk;
  const { state, perMinute } = progress(bulk);
  const left = [
    ...(await readBulkItems(services.sql, id, 'refused', SHOWN)),
    ...(await readBulkItems(services.sql, id, 'unknown', SHOWN)),
  ].map(itemRecord);
  const view = (
    <Results {...{ language, path, query, next: null, live: endedAt === null }}>
      <Facts
        rows={[
          ['Action', action],
          ['By', `${actor}, ${moment(language, createdAt)}`],
          ...[...Object.entries(grounds), ...Object.entries(filter)].map(
            ([name, value]) => [words(name), String(value)] as const,
          ),
          ['State', state],
          ['Progress', <progress max={items} value={items - open} aria-label="Progress" />],
          ['Items', counts(bulk)],
          ['Items a minute', String(perMinute)],
        ]}
      />
      <p>
        <a href={`${PATH}/${id}/items`}>What came of each, as CSV</a>
      </p>
      {endedAt === null && mayAsk(staff.role, STOP) ? (
        <p>
          <a href={commandPath(STOP, { id })}>Stop it</a>
        </p>
      ) : null}
      {left.length === 0 ? null : (
        <section>
          <h2>Not done</h2>
          <Table label="Not done" columns={['Item', 'Outcome', 'Why']}>
            {left.map(({ item, outcome, why }) => (
              <tr>
                <th scope="row">
                  <Id id={item} />
                </th>
                <td>{outcome}</td>
                <td class="text">{why}</td>
              </tr>
            ))}
          </Table>
        </section>
      )}
    </Results>
  );
  return { status: 200, title: `Bulk action: ${action}`, view };
}

async function items(visit: StaffVisit): Promise<Answer> {
  visit.acquireHeavySlot();
  const { services, params } = visit;
  const id = params['id'] ?? '';
  if ((await readBulk(services.sql, id)) === undefined) return problemPage(404);
  const rows = (await readBulkItems(services.sql, id, null, COUNTED_MAX))
    .map(itemRecord)
    .map(({ item, outcome, at, why }) => [item, outcome, at?.toISOString() ?? '', escapeFormula(why ?? '')]);
  return {
    status: 200,
    filename: `${id}.csv`,
    csv: [stringify([['item', 'outcome', 'at', 'why'], ...rows])],
  };
}

const FILTERS = ['action', 'account', 'route', 'minutes', 'kind'];
const TICKED = 'on';

/** From a list, whose boxes have the names of their items: what is ticked, or with `all` whatever matches its filters. */
async function start(visit: StaffVisit): Promise<Answer> {
  const command = offered(visit.staff.role, START);
  if (command === undefined) return problemPage(403);
  const given = [...visit.form];
  const ids = given.filter(([, value]) => value === TICKED).map(([name]) => name);
  const isAll = visit.form.get('all') === 'yes';
  if (ids.length === 0 && !isAll) return problemPage(400, 'Nothing is ticked.');
  const filters = given.filter(([name]) => (isAll ? FILTERS : ['action']).includes(name));
  const form = new Map([...filters, ...(isAll ? [] : [['id', ids.join(',')] as const])]);
  return await askFor({ ...visit, form }, command);
}

export const bulkRoutes = [
  staffPage(PATH, STAFF_ROLES, { get: list }),
  staffPage(`${PATH}/new`, STAFF_ROLES, { get: () => ({ to: commandPath(START) }), post: start }),
  staffPage(`${PATH}/:id`, STAFF_ROLES, { get: show }),
  staffPage(`${PATH}/:id/items`, STAFF_ROLES, { get: items }),
];
