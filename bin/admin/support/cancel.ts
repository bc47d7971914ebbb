import { command, optional, required, type Shown, yes } from '../command.ts';
import { leftAmong } from '../refusals.ts';
import { accountId, messageId, requestId, rows } from '../values.ts';

const DEFAULT_ACTS = 1000;

const cancel = command({
  name: 'messages cancel',
  about: 'Cancels a message that is still scheduled, to the last second, and refunds it.',
  options: { id: required('ID', 'the message', messageId) },
  positional: ['id'],
  async ask(asking, input): Promise<Shown> {
    const { cancelForStaff } = await import('../../../operations/cancel.ts');
    const { carriedOut } = await cancelForStaff({ ...asking, input });
    const result = { id: input.id, carried_out: carriedOut };
    if (carriedOut !== null) return { result };
    const remark = 'No worker has carried it out yet; it may still be: look again with messages show.';
    return { result, remark };
  },
});

const cancelAll = command({
  name: 'messages cancel-all',
  about:
    'Cancels and refunds all that an account, or one request, has scheduled, also what has no workflow yet.',
  options: {
    account: required('ID', 'the account', accountId),
    request: optional('ID', 'only of this request', requestId),
    limit: optional('N', `at most; default: ${DEFAULT_ACTS}`, rows),
    yes,
  },
  async ask(asking, { account, request = null, limit = DEFAULT_ACTS, yes: agreed = false }): Promise<Shown> {
    const { cancelMany } = await import('../../../operations/support/cancelMany.ts');
    const { ids, of, outcome } = await cancelMany({ ...asking, input: { account, request, limit, agreed } });
    if (outcome === null) {
      return {
        result: { would_cancel: ids.length, of },
        remark: 'Nothing was done. With --yes these are cancelled and refunded.',
      };
    }
    const data = leftAmong(outcome);
    return { result: { cancelled: outcome.length - data.length, of, data } };
  },
});

export const cancelCommands = [cancel, cancelAll];
