export const TEMPLATE_TYPES = ['sms', 'mms', 'vms'] as const;
export type TemplateType = (typeof TEMPLATE_TYPES)[number];

/** What an account writes of a template (v2.3.0, Template). */
export interface TemplateContent {
  name: string;
  type: TemplateType;
  /** Text with `{{key}}` placeholders; a SMIL document for `mms`. */
  body: string;
  /** Null unless the type is `mms`. */
  subject: string | null;
}

/** Longest body in characters. A text message ends at 20 parts long before; a SMIL document is mostly markup. */
export const TEMPLATE_BODY_MAX: Readonly<Record<TemplateType, number>> = {
  sms: 10_000,
  mms: 100_000,
  vms: 10_000,
};

/** Longest name and subject in characters (v2.3.0 leaves both open). */
export const TEMPLATE_NAME_MAX = 80;
export const TEMPLATE_SUBJECT_MAX = 80;

/** A change of a template; what is not given stays. */
export type TemplatePatch = {
  readonly [Field in keyof TemplateContent]?: TemplateContent[Field] | undefined;
};

/** The content with the given fields changed. */
export function changedTemplate(stored: TemplateContent, patch: TemplatePatch): TemplateContent {
  const { name = stored.name, type = stored.type, body = stored.body, subject = stored.subject } = patch;
  return { name, type, body, subject };
}
