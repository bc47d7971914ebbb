/** Why a command was not carried out; `code` is for programs, the message is one sentence for people. */
export class AdminError extends Error {
  override readonly name = 'AdminError';
  constructor(
    readonly code: 'invalid_argument' | 'not_found' | 'refused' | 'unavailable',
    message: string,
  ) {
    super(message);
  }
}

/** An argument that cannot be used; `option` is its name as typed (`--price`, `KEY_ID`). */
export function invalidArgument(option: string, reason: string): AdminError {
  return new AdminError('invalid_argument', `${option}: ${reason}`);
}

/** The thing named in the command does not exist. */
export function notFound(what: string): AdminError {
  return new AdminError('not_found', what);
}

/** The command is well formed, and what is true now does not allow it. */
export function refused(reason: string): AdminError {
  return new AdminError('refused', reason);
}
