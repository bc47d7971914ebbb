import { hadNoRoom } from './answers.ts';
import type { Connection, HandOver, Outgoing, RefusedRecipient } from './connection.ts';

/**
 * Hands a message over, and again to those alone for whom a transaction had no room (RFC 5321, 4.5.3.1.10). Nobody is named again whom the
 * relay has answered for otherwise; whoever is left is refused, and where a further transaction has no answer counts as taken, as nobody
 * may get it twice.
 *
 * @param limits of all transactions together, and what one needs at least, in milliseconds
 */
export async function inTransactions(
  connection: Connection,
  outgoing: Outgoing,
  limits: { wholeMs: number; leastMs: number },
): Promise<HandOver> {
  const until = performance.now() + limits.wholeMs;
  const first = await connection.handOver(outgoing, limits.wholeMs);
  if (first.kind !== 'taken') return first;
  const refused = first.refused.filter((one) => !hadNoRoom(one));
  let rest = first.refused.filter(hadNoRoom);
  while (rest.length > 0 && connection.usable()) {
    const leftMs = until - performance.now();
    if (leftMs < limits.leastMs) break;
    const to = rest.map(({ address }) => address);
    const answered = answeredNext(await connection.handOver({ ...outgoing, to, goOn: () => true }, leftMs));
    if (answered === null) break;
    refused.push(...answered.refused.filter((one) => !answered.goesOn || !hadNoRoom(one)));
    rest = answered.goesOn ? answered.refused.filter(hadNoRoom) : [];
  }
  return { ...first, refused: [...refused, ...rest] };
}

/** Whom a further transaction was not taken for, and whether another one may take some of them; null: for nobody it was asked for. */
function answeredNext(result: HandOver): { refused: readonly RefusedRecipient[]; goesOn: boolean } | null {
  switch (result.kind) {
    case 'taken':
      return { refused: result.refused, goesOn: true };
    case 'no_recipients':
      return { refused: result.refused, goesOn: false };
    case 'unknown':
      return { refused: [], goesOn: false };
    case 'answered':
    case 'broken_off':
    case 'too_large':
    case 'unreadable':
    case 'lost':
      return null;
  }
}
