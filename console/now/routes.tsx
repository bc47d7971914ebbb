import { readWithin } from '../../db/connection.ts';
import { STAFF_ROLES } from '../../domain/staff.ts';
import { readAlerts } from '../../operations/support/alerts.ts';
import { readNow } from '../../operations/support/now.ts';
import { unlessSlow } from '../../panel/ask.ts';
import { Results } from '../../panel/parts.tsx';
import type { Answer } from '../../panel/route.ts';
import { staffPage, type StaffVisit } from '../route.ts';
import { InTemporal } from '../temporal.tsx';
import { temporalView } from '../../domain/temporalViews.ts';
import { AlertStates, Minutes, WaitingNow, Waking } from './view.tsx';

const READ_MS = 5_000;

async function now(visit: StaffVisit): Promise<Answer> {
  const { services, settings, path, query, staff, receivedAt } = visit;
  visit.acquireHeavySlot();
  const prometheusUrl = await settings.tools.prometheusUrl();
  const [seen, alerts] = await Promise.all([
    unlessSlow(readWithin(services.sql, READ_MS, readNow)),
    prometheusUrl === null ? null : readAlerts(prometheusUrl),
  ]);
  const time = { TIME: new Date(receivedAt).toISOString() };
  const view = (
    <>
      <Results {...{ language: 'en', path, query }} next={null} live>
        {seen === null ? (
          <p class="notice">The database did not answer in time: the figures come again with it.</p>
        ) : (
          <>
            <WaitingNow waiting={seen.waiting} role={staff.role} />
            <Minutes minutes={seen.minutes} />
            <Waking waking={seen.waking} />
          </>
        )}
        <AlertStates alerts={alerts} />
      </Results>
      <InTemporal
        visit={visit}
        views={[
          (ui) => temporalView(ui, 'scheduled', {}),
          (ui) => temporalView(ui, 'overdue', time),
          (ui) => temporalView(ui, 'unanswered', {}),
          (ui) => temporalView(ui, 'endedBadly', {}),
          (ui) => temporalView(ui, 'regularWork', {}),
        ]}
      />
    </>
  );
  return { status: 200, title: 'Now', view };
}

export const nowRoutes = [staffPage('/console/now', STAFF_ROLES, { get: now })];
