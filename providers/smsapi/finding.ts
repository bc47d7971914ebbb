import type { LookupFinding, LookupStatus } from '../../domain/lookups.ts';

// ITU-T E.212, mobile network codes of Poland's four networks.
const POLISH_NETWORKS: Readonly<Record<string, string>> = {
  '26001': 'Plus',
  '26002': 'T-Mobile',
  '26003': 'Orange',
  '26006': 'Play',
};

const INVALID =
  /unknown subscriber|unallocated|not allocated|invalid|incorrect|illegal|nieprawid|nieznany|nie istnieje/;
const INACTIVE =
  /absent|inactive|not active|switched off|unreachable|not reachable|barred|detached|deactivated|nieaktywn|niedost/;

/** Whether this is a finding, rather than word that the question was taken. */
export function isFinding(fields: Readonly<Record<string, string | undefined>>): boolean {
  return fields['info'] !== undefined || fields['mcc'] !== undefined || fields['ported'] !== undefined;
}

/**
 * What the provider found out about a number, from `status`, `info`, `mcc`, `mnc` and `ported` (the fields of the
 * provider's Java and C# clients, `CheckNumberResponse`, and of its callback,
 * https://www.smsapi.pl/docs/#11-hlr). The wording of `info` is not documented: unknown words leave the status as it is.
 */
export function findingOf(fields: Readonly<Record<string, string | undefined>>): LookupFinding {
  const mcc = code(fields['mcc'], 3);
  // MNC 0 is no network that the provider would name, but the absence of one.
  const mnc = mcc === null ? null : code(fields['mnc'], 2);
  return {
    status: statusOf(fields['status'] ?? '', fields['info'] ?? ''),
    network: mcc === null || mnc === null ? null : (POLISH_NETWORKS[mcc + mnc] ?? null),
    mcc,
    mnc,
    ported: portedOf(fields['ported']),
  };
}

function statusOf(status: string, info: string): LookupStatus {
  const words = info.toLowerCase();
  if (INVALID.test(words)) return 'invalid';
  if (INACTIVE.test(words)) return 'inactive';
  return status.trim().toUpperCase() === 'OK' ? 'active' : 'unknown';
}

function code(digits: string | undefined, length: number): string | null {
  return digits !== undefined && /^0*[1-9][0-9]{0,2}$/.test(digits) && digits.length <= 3
    ? digits.padStart(length, '0')
    : null;
}

function portedOf(ported: string | undefined): boolean | null {
  if (ported === undefined) return null;
  const word = ported.trim().toLowerCase();
  if (word === '1' || word === 'true') return true;
  return word === '0' || word === 'false' ? false : null;
}
