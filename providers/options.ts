import { z } from 'zod';
import { parseSendWindow } from '../domain/sendWindow.ts';

/** How what is typed for an option is read; what does not fit is refused before anything is asked of the kind. */
export type OptionReading =
  | { as: 'text' }
  /** The content of a file, or of standard input. */
  | { as: 'file' }
  | { as: 'yes or no' }
  | { as: 'number'; min: number; max: number }
  | { as: 'word'; words: [string, ...string[]] };

/** A field that staff can type by itself, beside the JSON that takes them all. */
export interface KindOption {
  /** What stands for the value in the help: `HOST`. */
  placeholder: string;
  about: string;
  read: OptionReading;
}

/**
 * By the field that each fills. Kinds that have one of the same name read it the same way; none has a name that `routes add`
 * takes of every route (`name`, `kind`, `rate` …).
 */
export type KindOptions = Readonly<Record<string, KindOption>>;

/** A setting: when a route makes calls, `HH:MM-HH:MM` in Polish time; `00:00-24:00` is any time. */
export const callingHours = z
  .string()
  .refine((hours) => parseSendWindow(hours) !== null, 'must be HH:MM-HH:MM, at least 15 minutes');
