import { command, required, type Shown } from '../command.ts';
import { messageId } from '../values.ts';

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

export const cancelCommands = [cancel];
