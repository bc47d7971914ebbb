import { readWithin } from '../../db/connection.ts';
import { readOverview } from '../../db/routes/routeOverview.ts';
import { readRoute, readRouteRules } from '../../db/routes/routes.ts';
import { STAFF_ROLES } from '../../domain/staff.ts';
import { temporalView } from '../../domain/temporalViews.ts';
import { routeReport } from '../../operations/routes/report.ts';
import { unlessSlow } from '../../panel/ask.ts';
import { Results } from '../../panel/parts.tsx';
import type { Answer } from '../../panel/route.ts';
import { staffPage, type StaffVisit } from '../route.ts';
import { problemPage } from '../shell.tsx';
import { InTemporal } from '../temporal.tsx';
import { Acts, Report, RouteList, Rules, State, Which, Workers } from './view.tsx';

const READ_MS = 5_000;
const DAY_MS = 86_400_000;

async function list({ services, path, query, staff }: StaffVisit): Promise<Answer> {
  const [routes, rules] = await readWithin(services.sql, READ_MS, async (tx) => [
    await readOverview(tx),
    await readRouteRules(tx),
  ]);
  const view = (
    <>
      <Results {...{ language: 'en', path, query }} next={null} live>
        <RouteList routes={routes} />
      </Results>
      <Which role={staff.role} />
      <Rules rules={rules} role={staff.role} />
    </>
  );
  return { status: 200, title: 'Routes', view };
}

async function one(visit: StaffVisit): Promise<Answer> {
  const { services, params, staff, receivedAt } = visit;
  const name = params['name']!;
  const route = await readRoute(services.sql, name);
  if (route === undefined) return problemPage(404);
  visit.acquireHeavySlot();
  const [[seen], rules] = await readWithin(services.sql, READ_MS, async (tx) => [
    await readOverview(tx, name),
    (await readRouteRules(tx)).filter((rule) => rule.route === name),
  ]);
  const report = await unlessSlow(readWithin(services.sql, READ_MS, (tx) => routeReport(tx, name)));
  const yesterday = { ROUTE: name, TIME: new Date(receivedAt - DAY_MS).toISOString() };
  const view = (
    <>
      <State route={seen!} />
      <Acts name={name} state={route.state} role={staff.role} />
      <Report report={report} />
      <Workers workers={seen!.workers} />
      <Rules rules={rules} role={staff.role} />
      <InTemporal
        visit={visit}
        views={[
          (ui) => temporalView(ui, 'queued', { ROUTE: name }),
          (ui) => temporalView(ui, 'failed', yesterday),
        ]}
      />
    </>
  );
  return { status: 200, title: `Route ${name}`, view };
}

export const carrierRoutes = [
  staffPage('/console/routes', STAFF_ROLES, { get: list }),
  staffPage('/console/routes/:name', STAFF_ROLES, { get: one }),
];
