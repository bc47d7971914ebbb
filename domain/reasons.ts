/** Why a message failed or was rejected; stored with the message, turned into words only when it is shown. */
const ERROR_CODES = [
  'network_refused',
  'invalid_destination',
  'invalid_sender',
  'invalid_content',
  'not_permitted',
  'rejected_on_report',
  'blacklisted',
  'opted_out',
  'given_up',
] as const;
export type ErrorCode = (typeof ERROR_CODES)[number];

const REASONS: Readonly<Record<ErrorCode, string>> = {
  network_refused: 'Wiadomość odrzucona przez operatora przy nadaniu.',
  invalid_destination: 'Wiadomość odrzucona przez operatora przy nadaniu: numer odbiorcy jest nieprawidłowy.',
  invalid_sender: 'Wiadomość odrzucona przez operatora przy nadaniu: nadawca nie jest dozwolony.',
  invalid_content:
    'Wiadomość odrzucona przez operatora przy nadaniu: treść jest za długa lub ma niedozwolone znaki.',
  not_permitted:
    'Wiadomość odrzucona przez operatora przy nadaniu: wysyłka do tego odbiorcy nie jest dozwolona.',
  rejected_on_report: 'Wiadomość odrzucona przez operatora w raporcie doręczenia.',
  blacklisted: 'Numer jest na czarnej liście konta.',
  opted_out: 'Numer jest na czarnej liście (odbiorca zrezygnował z wiadomości).',
  given_up: 'Wiadomość nie została wysłana: operator serwisu zrezygnował z nadania.',
};

/**
 * Why a message to a number on the blacklist is rejected: only where its owner opted out (v2.3.0, BlacklistEntry: reason
 * `opt_out`) may the text say so (Message, `error`).
 */
export function blacklistReason(optedOut: boolean): ErrorCode {
  return optedOut ? 'opted_out' : 'blacklisted';
}
const UNKNOWN_REASON = 'Wiadomość odrzucona.';

/** The Polish sentence of the field `error` of a message (v2.3.0, Message) for a stored error code. */
export function reasonText(errorCode: string): string {
  return isErrorCode(errorCode) ? REASONS[errorCode] : UNKNOWN_REASON;
}

function isErrorCode(code: string): code is ErrorCode {
  return (ERROR_CODES as readonly string[]).includes(code);
}
