import type postgres from 'postgres';
import type { ProviderEmailEvent } from '../../domain/email/events.ts';
import type { Database } from '../connection.ts';
import { transaction } from '../transaction.ts';

/** One of its events, as the database has it. */
interface DueRow {
  id: number;
  providerEmailId: string;
  reference: string;
  kind: ProviderEmailEvent['kind'];
  permanent: boolean | null;
  address: string;
  dueAt: Date;
}

/** Keeps the memory of a simulated e-mail provider in PostgreSQL, so that it survives a restart and several workers share it. */
export function simulatorMail(sql: Database, route: string) {
  return {
    async takeEmail(
      providerEmailId: string,
      { reference, mail }: { reference: string; mail: object },
      events: { kind: string; permanent: boolean | null; address: string; afterMs: number }[],
      reportedAt: number,
    ): Promise<{ providerEmailId: string; tries: number }> {
      const [taken] = await sql<{ providerEmailId: string; tries: number }[]>`
        with taken as (
          insert into simulator_emails as s (provider_email_id, route, reference, mail)
          values (${providerEmailId}, ${route}, ${reference}, ${sql.json(mail as postgres.JSONValue)})
          on conflict (route, reference) do update set tries = s.tries + 1
          returning provider_email_id, tries
        ), planned as (
          insert into simulator_email_events (route, provider_email_id, reference, kind, permanent, address, due_at)
          select ${route}, t.provider_email_id, ${reference}, e.kind, e.permanent, e.address,
                 clock_timestamp() + make_interval(secs => e.after / 1000.0)
            from taken t, unnest(${events.map(({ kind }) => kind)}::text[],
                                 ${events.map(({ permanent }) => permanent)}::boolean[],
                                 ${events.map(({ address }) => address)}::text[],
                                 ${events.map(({ afterMs }) => afterMs)}::int[]) as e(kind, permanent, address, after)
           where t.tries = ${reportedAt}
        )
        select provider_email_id, tries from taken`;
      return taken!;
    },

    async handOverEvents(
      limit: number,
      deliver: (events: ProviderEmailEvent[]) => Promise<void>,
    ): Promise<number> {
      return await transaction(sql, async (tx) => {
        const due = await tx<DueRow[]>`
          select id, provider_email_id, reference, kind, permanent, address, due_at
            from simulator_email_events where route = ${route} and due_at <= clock_timestamp()
           order by due_at, id limit ${limit} for update skip locked`;
        if (due.length === 0) return 0;
        await deliver(due.map(eventOf));
        await tx`delete from simulator_email_events where id = any(${due.map(({ id }) => id)})`;
        return due.length;
      });
    },
  };
}

function eventOf({
  id,
  providerEmailId,
  reference,
  kind,
  permanent,
  address,
  dueAt,
}: DueRow): ProviderEmailEvent {
  return {
    eventId: `sim_${id}`,
    ...{ emailId: reference, providerEmailId, kind, permanent, addresses: [address], at: dueAt },
    payload: {
      type: `email.${kind}`,
      created_at: dueAt.toISOString(),
      data: { email_id: providerEmailId, to: [address] },
    },
  };
}
