/** What a field, parameter or answer means, and how it may look. */
export interface FieldText {
  description?: string;
  example?: unknown;
}

/** Texts of fields by name. */
export type FieldTexts = Readonly<Record<string, FieldText>>;

/** Texts by the component or operation that the fields belong to, with the path below it: `Contact.groups`. */
export type OwnedTexts = Readonly<Record<string, FieldTexts>>;

/** The part of an example's id behind its prefix. */
export const ULID = '01kaj4c9v7n3w8t5q2x6y0z1ab';
/** An instant of the examples. */
export const CREATED = '2026-11-21T10:00:00.000Z';

export const text = (description: string, example?: unknown): FieldText => ({ description, example });
