import { accountTexts } from './texts/account.ts';
import { addressBookTexts } from './texts/addressBook.ts';
import { commonTexts } from './texts/common.ts';
import { messageTexts } from './texts/messages.ts';
import { reactionsTexts } from './texts/reactions.ts';
import type { FieldText, OwnedTexts } from './texts/text.ts';

const owned: OwnedTexts = { ...messageTexts, ...addressBookTexts, ...reactionsTexts, ...accountTexts };
// What an answer or a table is has no text that holds everywhere.
const OF_AN_ANSWER = /^[0-9]{3}$/;

/**
 * The text of a field: its owner's, else the common one.
 * @param owner component or operation id, with the path of fields below it: `Contact.groups`
 */
export function fieldText(owner: string, name: string): FieldText {
  return owned[owner]?.[name] ?? (OF_AN_ANSWER.test(name) ? undefined : commonTexts[name]) ?? {};
}
