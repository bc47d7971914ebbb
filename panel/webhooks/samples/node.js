import { createHmac, timingSafeEqual } from 'node:crypto';

// `body` is the bytes of the request as they came, before JSON is parsed.
export function isGenuine(secret, header, body) {
  const [, t, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? [];
  if (t === undefined || Math.abs(Date.now() / 1000 - Number(t)) > 300) return false;
  const expected = createHmac('sha256', secret).update(`${t}.`).update(body).digest();
  return timingSafeEqual(expected, Buffer.from(signature, 'hex'));
}
