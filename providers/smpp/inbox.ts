import { gather } from '../../concurrency/gather.ts';
import { createSemaphore } from '../../concurrency/semaphore.ts';
import type { ProviderHandlers } from '../provider.ts';
import { type NetworkReply, type ReplyPart, storable } from '../../domain/inbound.ts';
import { decodeText } from '../../domain/smsText.ts';
import type { DeliveryReport } from '../../domain/submission.ts';
import { STATUS } from './codec.ts';
import { type Incoming, type IncomingReply, readDeliver } from './incoming.ts';
import type { DeliverPdu } from './pdus.ts';
import { createRedeliveries } from './redeliveries.ts';
import type { Session } from './session.ts';
import type { SmppSettings } from './settings.ts';

const REPORTS_A_BATCH = 200;
const REPLIES_A_BATCH = 50;
const PARTS_A_BATCH = 20;

/** Where all sessions of a route put what the SMSC delivers. */
export interface Inbox {
  /** Stores it, and only then acknowledges it; says `temporary` when it could not be stored. */
  take(session: Session, pdu: DeliverPdu | null, respond: (status: number) => boolean): void;
  /** The session's connection broke. */
  lost(session: Session): void;
}

/**
 * @param onError gets what could not be stored, which the SMSC will hand over again, and, without its content, what
 *   could not be read: that is acknowledged, or it would come for ever
 */
export function createInbox(
  settings: SmppSettings,
  handlers: ProviderHandlers,
  onError: (error: unknown) => void,
): Inbox {
  // What came in the same piece of the stream goes together; one that cannot be stored must not take the others with it.
  const gathering = { begin: setImmediate, splitAfterFailure: true };
  const storeReport = gather((reports: DeliveryReport[]) => handlers.onReports(reports), {
    ...{ ...gathering, most: REPORTS_A_BATCH },
  });
  const storeReply = gather((replies: NetworkReply[]) => handlers.onReplies(replies), {
    ...{ ...gathering, most: REPLIES_A_BATCH },
  });
  // Each for itself: one that fails must not take the others' acknowledgement with it.
  const parts = createSemaphore({ places: PARTS_A_BATCH });
  const redeliveries = createRedeliveries<Session>();

  const acknowledge = async (
    stored: Promise<void>,
    respond: (status: number) => boolean,
  ): Promise<boolean> => {
    try {
      await stored;
    } catch (error) {
      onError(error);
      respond(STATUS.temporary);
      return false;
    }
    return respond(STATUS.ok);
  };

  const takeReply = async (session: Session, reply: IncomingReply, respond: (status: number) => boolean) => {
    const handed = redeliveries.handedOver(session, reply);
    const stored = storeReply({
      providerReference: handed.providerReference,
      from: reply.from,
      to: reply.to,
      text: storable(decodeText(reply.encoding, reply.content)),
    });
    if (await acknowledge(stored, respond)) handed.acknowledged();
    else handed.unacknowledged();
  };

  const storePart = (part: ReplyPart): Promise<void> =>
    parts.run(undefined, () => handlers.onReplyPart(part));

  const unreadable = (reason: string, respond: (status: number) => boolean): void => {
    onError(new Error(`a deliver_sm could not be read: ${reason}`));
    respond(STATUS.ok);
  };

  const read = (pdu: DeliverPdu): Incoming => {
    try {
      return readDeliver(pdu, settings);
    } catch (error) {
      // Nothing that an SMSC sends may end the process, not even by our own mistake.
      return { kind: 'unreadable', reason: error instanceof Error ? error.name : 'unknown' };
    }
  };

  return {
    take(session, pdu, respond) {
      if (pdu === null) return unreadable('its fields run beyond it', respond);
      const incoming = read(pdu);
      switch (incoming.kind) {
        case 'report':
          return void acknowledge(storeReport(incoming.report), respond);
        case 'reply':
          return void takeReply(session, incoming.reply, respond);
        case 'part':
          return void acknowledge(storePart(incoming.part), respond);
        case 'unreadable':
          return unreadable(incoming.reason, respond);
      }
    },
    lost: (session) => redeliveries.lost(session),
  };
}
