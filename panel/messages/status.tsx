import { isFinal, type MessageStatus } from '../../domain/statuses.ts';
import type { Language } from '../language.ts';
import { words } from './words.ts';

/** The status of a message in words; those that ended badly stand out. */
export function StatusBadge({ language, status }: { language: Language; status: MessageStatus }) {
  const isBad = isFinal(status) && status !== 'delivered' && status !== 'cancelled';
  return <span class={isBad ? 'badge bad' : 'badge'}>{words[language].statuses[status]}</span>;
}
