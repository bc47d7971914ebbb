import { Context } from '@temporalio/activity';
import { partReference, WHOLE } from '../../db/incoming/deliveryReports.ts';
import { claimParts, type PartClaim } from '../../db/messages/parts.ts';
import type { SubmittableMessage } from '../../db/messages/submissions.ts';
import { rulesOf } from '../../domain/channels.ts';
import type { SubmitAnswer, SubmitPart } from '../../domain/submission.ts';
import type { Provider } from '../../providers/provider.ts';
import { observeSubmit } from '../../telemetry/messageMetrics.ts';
import { answerOf, releaseClaim, type SubmitContext } from './storing.ts';

/** What is submitted in one request. */
export interface Piece {
  parts: number[];
  submit: SubmitPart;
}

/** The whole message if the provider takes it so, else one piece per part. */
export function piecesOf(message: SubmittableMessage, provider: Provider): Piece[] {
  const { encoding, parts } = rulesOf(message.channel).cutAs(message, message.cut);
  const common = {
    channel: message.channel,
    content: message.content,
    destination: message.recipient,
    sender: message.sender,
    encoding,
    parts: parts.length,
    concatReference: message.concatReference,
    priority: message.priority,
    expiresAt: message.giveUpAt,
  };
  const numbers = parts.map((_, index) => index + 1);
  if (provider.takesWhole) {
    const reference = partReference(message.id, WHOLE);
    return [{ parts: numbers, submit: { ...common, reference, text: message.text, part: 1 } }];
  }
  return parts.map((text, index) => ({
    parts: [index + 1],
    submit: { ...common, reference: partReference(message.id, index + 1), text, part: index + 1 },
  }));
}

/** @returns the claim (null: the provider never got that far), and the answer if the piece was submitted */
export async function submitPiece(
  { sql, provider, pacer, onAnswer }: SubmitContext,
  message: SubmittableMessage,
  piece: Piece,
): Promise<{ claim: PartClaim | null; answer: SubmitAnswer | null }> {
  const signal = Context.current().cancellationSignal;
  let claim: PartClaim | null = null;
  let left = performance.now();
  const some = { messageId: message.id, parts: piece.parts, route: provider.name };
  const steps = {
    async prepare() {
      claim = await claimParts(sql, some);
      return claim.state === 'claimed';
    },
    async undo() {
      await releaseClaim(sql, some, claim, null);
      claim = null;
    },
  };
  const leave = async () => {
    const leaves = await pacer.waitForSlot(piece.parts.length, steps, signal);
    left = performance.now();
    return leaves;
  };
  const answer = await answerOf(
    () => provider.submit(piece.submit, leave),
    () => claim !== null,
  );
  if (answer.kind === 'withheld') return { claim, answer: null };
  const ms = performance.now() - left;
  onAnswer(answer, ms);
  observeSubmit(provider.name, answer.kind, ms / 1000);
  return { claim, answer };
}
