import type { Draft } from '../../db/messages/drafts.ts';
import { countryOf } from '../../domain/msisdn.ts';
import type { Asked } from '../asked.ts';
import { ownLinks } from './personalLinks.ts';
import type { Plan } from './plan.ts';
import type { SendInput } from './input.ts';
import { writtenOut } from './wording.ts';

/** The plan with every recipient's own links in its text, ready to be written. */
export async function draftMessages(
  { services, caller, input, requestId }: Asked<SendInput>,
  plan: Plan,
): Promise<Draft[]> {
  const { terms, timing, sender, wording } = plan;
  const msisdns = plan.messages.map(({ recipient }) => recipient.msisdn);
  const { sql, shortUrl } = services;
  const linksOf = await ownLinks(sql, caller.accountId, sender, wording, shortUrl, msisdns);
  const now = new Date(terms.now);
  return plan.messages.map(
    ({ id, route, recipient, values, parts, cut, rejected, rejection, costGrosze }) => {
      // As long as the samples that the plan measured.
      const links = linksOf(recipient.msisdn);
      const acceptedAs = rejected ? 'rejected' : timing.acceptedAs;
      return {
        id,
        account_id: caller.accountId,
        request_id: requestId,
        batched: plan.batched,
        channel: plan.channel,
        status: acceptedAs,
        accepted_as: acceptedAs,
        recipient: recipient.msisdn,
        country: countryOf(recipient.msisdn),
        sender,
        text: writtenOut(wording, values, links, recipient.index),
        content: wording.content,
        parts,
        cut,
        links: links.tracked,
        opt_out_token: rejected ? null : links.newOptOut,
        cost_grosze: costGrosze,
        test_credits: terms.mode === 'test' && !rejected ? 1 : 0,
        priority: plan.priority,
        reference: input.reference ?? null,
        send_at: rejected ? null : timing.sendAt,
        expires_at: timing.expiresAt,
        give_up_at: timing.giveUpAt,
        route,
        delivered_at: null,
        error_code: rejection,
        created_at: now,
        updated_at: now,
      };
    },
  );
}
