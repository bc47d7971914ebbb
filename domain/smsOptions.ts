/** How an SMS is sent, beside what it says (v1.2.0, POST /v1/sms). */
export interface SmsOptions {
  /** Class 0: shown at once, and not stored by the phone (3GPP TS 23.038, 4). */
  flash: boolean;
  /** Sent and billed as UCS-2, whether GSM-7 has the text or not. */
  ucs2: boolean;
}

/** What an SMS says, and how. */
export interface SmsContent extends SmsOptions {
  text: string;
}

/** As an SMS goes unless asked otherwise. */
const PLAIN_SMS: SmsOptions = { flash: false, ucs2: false };

/** The options as they are stored with a message; null for those of most, which need no storing. */
export function storedOptions({ flash, ucs2 }: SmsOptions): object | null {
  return flash || ucs2 ? { ...(flash ? { flash } : {}), ...(ucs2 ? { ucs2 } : {}) } : null;
}

/** The options of a stored message. */
export function optionsOf(content: object | null): SmsOptions {
  return { ...PLAIN_SMS, ...content };
}
