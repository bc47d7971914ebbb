import type { Socket } from 'node:net';
import { deliverPdu, encodePdu, type Pdu } from './codec.ts';
import type { DeliverPdu } from './pdus.ts';
import { writePdu } from './wire.ts';

/** deliver_sm under way in one session; beyond, nothing is read until half of them are answered. */
const MOST = 200;

/** What an SMSC delivered in one session and has no answer to yet. */
export interface Intake {
  take(pdu: Pdu, answer: 'deliver_sm_resp' | 'data_sm_resp'): void;
  open(): number;
  /** From now on everything is read, however much is open. */
  readAll(): void;
}

/** @param onAnswered one of them was answered, or nobody is there any more to be answered */
export function createIntake(
  socket: Socket,
  onDeliver: (pdu: DeliverPdu | null, respond: (status: number) => boolean) => void,
  onAnswered: () => void,
): Intake {
  let open = 0;
  let readsAll = false;
  return {
    take(pdu, answer) {
      open++;
      if (open >= MOST && !readsAll) socket.pause();
      onDeliver(deliverPdu(pdu), (status) => {
        open--;
        if (open <= MOST / 2 && socket.isPaused()) socket.resume();
        const written = writePdu(socket, encodePdu(answer, pdu.sequence, { message_id: '' }, status));
        onAnswered();
        return written;
      });
    },
    open: () => open,
    readAll() {
      readsAll = true;
      socket.resume();
    },
  };
}
