import { SUBJECT_MAX } from '../../domain/channels/mms.ts';
import type { Channel } from '../../domain/channelNames.ts';
import { hasMoreCharacters } from '../../domain/characters.ts';
import { Refused } from '../../domain/refusals.ts';
import { storedOptions } from '../../domain/smsOptions.ts';
import { isOneLine } from '../../domain/storable.ts';
import type { SendInput } from './input.ts';

/** What a template brings beside its text; null where the request has a text of its own. */
export type TemplateExtras = { subject: string | null } | null;

/**
 * What a message has beside its text, as it is stored.
 * @throws Refused naming `subject`, or `template_id` where the subject is the template's
 */
export function contentOf(channel: Channel, request: SendInput, template: TemplateExtras): object | null {
  return CONTENTS[channel](request, template);
}

const CONTENTS: Readonly<Record<Channel, (request: SendInput, template: TemplateExtras) => object | null>> = {
  // What is normalized is GSM-7, and counted so: whoever gives up the diacritics does it for the longer parts.
  sms: ({ encoding, normalize = false, flash = false }) =>
    storedOptions({ flash, ucs2: encoding === 'ucs2' && !normalize }),
  mms: ({ subject: own }, template) => ({ subject: subjectOf(own, template) }),
  vms: ({ voice = 'ewa', tries = 1 }) => ({ voice, tries }),
};

function subjectOf(own: string | undefined, template: TemplateExtras): string {
  const subject = own ?? template?.subject ?? null;
  if (subject === null) throw new Refused({ reason: 'field_missing', field: 'subject' }, 'subject');
  // A template may be older than what is asked of a subject.
  const blamed = own === undefined ? 'template_id' : 'subject';
  if (hasMoreCharacters(subject, SUBJECT_MAX)) {
    const refusal = { reason: 'field_too_long', field: 'subject', unit: 'characters' } as const;
    throw new Refused({ ...refusal, limit: SUBJECT_MAX }, blamed);
  }
  if (!isOneLine(subject)) throw new Refused({ reason: 'characters_forbidden', field: 'subject' }, blamed);
  return subject;
}
