import { newId } from '../db/ids.ts';
import * as stored from '../db/messages/templates.ts';
import { rulesOf } from '../domain/channels.ts';
import { hasMoreCharacters } from '../domain/gsm7.ts';
import {
  changedTemplate,
  parsePlaceholders,
  type Piece,
  TEMPLATE_BODY_MAX,
  type TemplateContent,
  type TemplatePatch,
} from '../domain/placeholders.ts';
import { Refused } from '../domain/refusals.ts';
import type { OperationContext } from './context.ts';
import { withinQuota } from './quotas.ts';
import { refuseMalformed } from './sending/wording.ts';

const BLAMED = { template_bytes: 'body' } as const;

/** Stores a template (v2.3.0, Templates). @throws Refused for fields that do not fit together and above the account's quotas */
export async function createTemplate({
  services: { sql },
  caller: { accountId },
  input: content,
}: OperationContext<TemplateContent>): Promise<stored.TemplateRow> {
  refuseMalformed(piecesOf(content), 'body');
  refuseUnfit(content);
  return await withinQuota(BLAMED, stored.insertTemplate(sql, accountId, newId('tpl'), content));
}

/**
 * Changes a template. Undefined leaves a field; the result must satisfy the rules for a new template.
 * @throws Refused also for an empty change or an unknown template
 */
export async function changeTemplate({
  services: { sql },
  caller: { accountId },
  input: { id, patch },
}: OperationContext<{ id: string; patch: TemplatePatch }>): Promise<stored.TemplateRow> {
  if (Object.values(patch).every((field) => field === undefined))
    throw new Refused({ reason: 'template_empty' });
  const changing = stored.changeTemplate(sql, accountId, id, (before) => {
    const content = changedTemplate(before, patch);
    // An unchanged body may predate the current rules.
    if (patch.body !== undefined) refuseMalformed(piecesOf(content), 'body');
    refuseUnfit(content);
    return content;
  });
  const template = await withinQuota(BLAMED, changing);
  if (template === null) throw unknown();
  return template;
}

/** Deletes a template; messages sent with it remain. @throws Refused if it does not exist */
export async function deleteTemplate({
  services: { sql },
  caller: { accountId },
  input: { id },
}: OperationContext<{ id: string }>): Promise<void> {
  if (!(await stored.deleteTemplate(sql, accountId, id))) throw unknown();
}

function piecesOf({ type, body }: TemplateContent): Piece[] {
  return parsePlaceholders(body, rulesOf(type).unescapeText);
}

function refuseUnfit({ type, body, subject }: TemplateContent): void {
  const limit = TEMPLATE_BODY_MAX[type];
  if (hasMoreCharacters(body, limit)) {
    throw new Refused({ reason: 'field_too_long', field: 'body', limit, unit: 'characters' }, 'body');
  }
  if (type !== 'mms' && subject !== null) throw new Refused({ reason: 'template_subject' }, 'subject');
}

function unknown(): Refused {
  return new Refused({ reason: 'template_unknown' });
}
