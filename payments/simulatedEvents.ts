import { createHmac, timingSafeEqual } from 'node:crypto';
import { type EventReader, ForgedEventError } from './processor.ts';

const HEADER = 'payment-signature';
const TOLERANCE_S = 300;
const SIGNATURE = /^t=([0-9]{1,12}),v1=([0-9a-f]{64})$/;

/** The key that the simulated processor signs its events with. @param secretsKey of the installation */
export function simulatedEventKey(secretsKey: Buffer): Buffer {
  return createHmac('sha256', secretsKey).update('events of simulated payments').digest();
}

/** An event of the simulated processor, to be posted. @param id of the payment, ours */
export function simulatedEvent(key: Buffer, id: string): { body: string; headers: Record<string, string> } {
  const body = JSON.stringify({ type: 'payment.changed', payment: id });
  const seconds = Math.floor(Date.now() / 1000);
  const signature = `t=${seconds},v1=${signatureOf(key, seconds, Buffer.from(body))}`;
  return { body, headers: { 'Content-Type': 'application/json', [HEADER]: signature } };
}

/** Reads events of the simulated processor. */
export function simulatedEvents(key: Buffer): EventReader {
  return (body, headers) => {
    const given = headers[HEADER];
    const [, time = '', signature = ''] = SIGNATURE.exec(typeof given === 'string' ? given : '') ?? [];
    const expected = signatureOf(key, Number(time), body);
    const isSigned =
      signature.length === expected.length && timingSafeEqual(Buffer.from(signature), Buffer.from(expected));
    if (!isSigned || Math.abs(Date.now() / 1000 - Number(time)) > TOLERANCE_S)
      throw new ForgedEventError('not signed, or long ago');
    const { payment: id } = JSON.parse(body.toString()) as { payment: string };
    return { id, reference: null };
  };
}

function signatureOf(key: Buffer, seconds: number, body: Buffer): string {
  return createHmac('sha256', key).update(`${seconds}.`).update(body).digest('hex');
}
