import type postgres from 'postgres';
import type { NetworkReply } from '../../domain/incoming.ts';
import type { DeliveryReport, SubmitPart } from '../../domain/submission.ts';
import { type Database, type Sql, transaction } from '../connection.ts';
import type { ProviderEmailEvent } from '../../domain/email/statuses.ts';

/** Stores the state of a simulated SMSC, so that it survives restarts and is shared by workers. */
export function simulatorStore(sql: Database, route: string) {
  return {
    async take(
      providerMessageId: string,
      part: SubmitPart,
      reports: { state: DeliveryReport['state']; afterMs: number }[],
    ): Promise<void> {
      const isOff = sql`exists (select from simulator_phones_off where msisdn = ${part.destination})`;
      const reaches = reports.length === 0 || reports.some(({ state }) => state === 'delivered');
      await sql`
        with taken as (
          insert into simulator_submits (provider_message_id, reference, channel, source, destination, encoding, content,
                                         options, part, parts, priority, route, received)
          values (${providerMessageId}, ${part.reference}, ${part.channel}, ${part.sender}, ${part.destination},
                  ${part.encoding}, ${part.text}, ${optionsOf(part)}::text::jsonb, ${part.part},
                  ${part.parts}, ${part.priority}, ${route}, ${reaches}::boolean and not ${isOff})
        )
        insert into simulator_reports (provider_message_id, reference, state, due_at, route)
        select ${providerMessageId}, ${part.reference}, case when ${isOff} then 'undelivered' else r.state end,
               clock_timestamp() + make_interval(secs => r.after / 1000.0), ${route}
          from unnest(${reports.map((r) => r.state)}::text[], ${reports.map((r) => r.afterMs)}::int[]) as r(state, after)`;
    },

    async countThrottle(reference: string, upTo: number): Promise<boolean> {
      const [row] = await sql`
        insert into simulator_throttles as t (reference, refused) values (${reference}, 1)
        on conflict (reference) do update set refused = t.refused + 1 where t.refused < ${upTo}
        returning refused`;
      return row !== undefined;
    },

    async handOverDue(limit: number, deliver: (reports: DeliveryReport[]) => Promise<void>): Promise<number> {
      return await transaction(sql, async (tx) => {
        const due = await tx<(DeliveryReport & { id: number })[]>`
          select id, provider_message_id, reference, state, null as error_code
            from simulator_reports where route = ${route} and due_at <= clock_timestamp()
           order by due_at, id limit ${limit} for update skip locked`;
        if (due.length === 0) return 0;
        await deliver(due);
        await tx`delete from simulator_reports where id = any(${due.map((report) => report.id)})`;
        return due.length;
      });
    },

    async handOverReplies(
      limit: number,
      deliver: (replies: NetworkReply[]) => Promise<void>,
    ): Promise<number> {
      return await transaction(sql, async (tx) => {
        const waiting = await tx<(NetworkReply & { id: number })[]>`
          select id, id::text as provider_reference, source as "from", destination as "to", content as text
            from simulator_replies where route = ${route} order by id limit ${limit} for update skip locked`;
        if (waiting.length === 0) return 0;
        await deliver(waiting);
        await tx`delete from simulator_replies where id = any(${waiting.map((reply) => reply.id)})`;
        return waiting.length;
      });
    },

    async hasReports(providerMessageId: string): Promise<boolean> {
      const [row] =
        await sql`select from simulator_reports where provider_message_id = ${providerMessageId} limit 1`;
      return row !== undefined;
    },
  };
}

const optionsOf = ({ content }: SubmitPart): string | null =>
  content === null ? null : JSON.stringify(content);

/** Simulates a reply by SMS; `to` is the number it is sent to, null when the SMSC does not say. */
export async function addSimulatedReply(
  sql: Sql,
  reply: { from: string; to: string | null; text: string },
): Promise<void> {
  await sql`
    insert into simulator_replies (source, destination, content)
    values (${reply.from}, ${reply.to}, ${reply.text})`;
}

interface DueRow {
  id: number;
  providerEmailId: string;
  reference: string;
  kind: ProviderEmailEvent['kind'];
  permanent: boolean | null;
  address: string;
  dueAt: Date;
}

/** Stores the state of a simulated e-mail provider, so that it survives restarts and is shared by workers. */
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
    emailId: reference,
    providerEmailId,
    kind,
    permanent,
    addresses: [address],
    at: dueAt,
    payload: {
      type: `email.${kind}`,
      created_at: dueAt.toISOString(),
      data: { email_id: providerEmailId, to: [address] },
    },
  };
}
