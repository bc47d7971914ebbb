import type { NewMessage } from '../../db/messages/accept.ts';
import { INTERFACE } from '../../domain/interfaces.ts';
import { mapInChunks } from '../../concurrency/chunks.ts';
import { countryOf } from '../../domain/msisdn.ts';
import type { Asked } from '../asked.ts';
import { ownLinks } from './personalLinks.ts';
import type { Plan } from './plan.ts';
import type { SendInput } from './input.ts';
import { writtenOut } from './wording.ts';

/** The plan with every recipient's own links in its text, ready to be written. */
export async function newMessages(
  { services, caller, input, requestId }: Asked<SendInput>,
  plan: Plan,
): Promise<NewMessage[]> {
  const { terms, sender, wording } = plan;
  const msisdns = plan.messages.map(({ recipient }) => recipient.msisdn);
  const { sql, shortUrl } = services;
  const linksOf = await ownLinks(sql, caller.accountId, sender, wording, shortUrl, msisdns);
  const now = new Date(terms.now);
  return await mapInChunks(
    plan.messages,
    ({ id, route, recipient, values, parts, cut, rejected, rejection, costGrosze, timing }) => {
      // As long as the samples that the plan measured. What nobody is sent makes and carries none: it costs nothing, and would
      // keep them for ever. Where there is a link already, its text has that one.
      const links = linksOf(recipient.msisdn);
      return {
        id,
        accountId: caller.accountId,
        requestId,
        batched: plan.batched,
        channel: plan.channel,
        status: rejected ? 'rejected' : timing.acceptedAs,
        recipient: recipient.msisdn,
        country: countryOf(recipient.msisdn),
        sender,
        text: writtenOut(wording, values, links, recipient.index),
        content: wording.content,
        parts,
        cut,
        links: rejected ? [] : links.tracked,
        optOutToken: rejected ? null : links.newOptOut,
        costGrosze,
        testCredits: terms.mode === 'test' && !rejected ? 1 : 0,
        priority: plan.priority,
        reference: input.reference ?? null,
        interface: input.interface ?? INTERFACE,
        idx: input.idx ?? null,
        sendAt: rejected ? null : timing.sendAt,
        expiresAt: timing.expiresAt,
        giveUpAt: timing.giveUpAt,
        route,
        deliveredAt: null,
        errorCode: rejection,
        createdAt: now,
        updatedAt: now,
      };
    },
  );
}
