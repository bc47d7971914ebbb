import { accountTexts } from './texts/account.ts';
import { addressBookTexts } from './texts/addressBook.ts';
import { commonTexts } from './texts/common.ts';
import { messageTexts } from './texts/messages.ts';
import { reactionsTexts } from './texts/reactions.ts';
import type { FieldText, OwnedTexts } from './texts/text.ts';

const owned: OwnedTexts = { ...messageTexts, ...addressBookTexts, ...reactionsTexts, ...accountTexts };

/**
 * The text of a field: its owner's, else the common one.
 * @param owner component or operation id, with the path of fields below it: `Contact.groups`
 */
export function fieldText(owner: string, name: string): FieldText {
  return owned[owner]?.[name] ?? commonTexts[name] ?? {};
}
