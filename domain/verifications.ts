export const VERIFICATION_STATUSES = ['pending', 'approved', 'expired', 'failed'] as const;

/** Guesses at one code; the last wrong one fails the verification. */
export const GUESSES_MAX = 5;

export const CODE_LENGTH = { least: 4, most: 8, standard: 6 } as const;

/** How long a code is valid, in seconds. */
export const TTL = { least: 60, most: 3_600, standard: 600 } as const;

/** As stored, with its status now. */
export interface VerificationRow {
  id: string;
  /** E.164 with plus. */
  msisdn: string;
  status: (typeof VERIFICATION_STATUSES)[number];
  codeLength: number;
  guesses: number;
  /** SMS with the code. */
  codes: number;
  /** Of all of them, net. */
  costGrosze: number;
  expiresAt: Date;
  approvedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

/** Presents a verification, grosze net. */
export function verificationRecord(row: VerificationRow) {
  return {
    id: row.id,
    status: row.status,
    to: row.msisdn,
    attempts_left: GUESSES_MAX - row.guesses,
    cost_grosze: row.costGrosze,
    expires_at: row.expiresAt.toISOString(),
    approved_at: row.approvedAt?.toISOString() ?? null,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

export type VerificationRecord = ReturnType<typeof verificationRecord>;

export const LOCALES = ['pl', 'en'] as const;
export type Locale = (typeof LOCALES)[number];

const TEXTS: Readonly<Record<Locale, (code: string, minutes: number) => string>> = {
  pl: (code, minutes) => `Twój kod: ${code}. Ważny ${minutes} min. Nie podawaj go nikomu.`,
  en: (code, minutes) => `Your code: ${code}. Valid for ${minutes} min. Do not share it with anyone.`,
};

/** The SMS with a code, one part in each language. @param code asterisks where it is stored @param ttl seconds */
export function codeText(locale: Locale, code: string, ttl: number): string {
  return TEXTS[locale](code, Math.floor(ttl / 60));
}

/** A limit of codes to one number that an account has reached. */
export interface ReachedLimit {
  limit: number;
  windowSeconds: number;
  /** Until the next code may be sent. */
  seconds: number;
}

// An attacker who has numbers called for the operator's fee never confirms a code; a person does.
const LIMITS = [
  { limit: 3, windowSeconds: 600 },
  { limit: 10, windowSeconds: 86_400 },
];

/** The limit that forbids another code for longest, or null. @param ages seconds since each unconfirmed code, latest first */
export function reachedLimit(ages: readonly number[]): ReachedLimit | null {
  const reached = LIMITS.flatMap(({ limit, windowSeconds }) => {
    const age = ages[limit - 1];
    if (age === undefined || age >= windowSeconds) return [];
    return [{ limit, windowSeconds, seconds: Math.ceil(windowSeconds - age) }];
  });
  return reached.sort((one, other) => other.seconds - one.seconds)[0] ?? null;
}
