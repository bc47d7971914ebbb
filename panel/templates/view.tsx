import type { Estimate } from '../../api/messages/estimate.ts';
import { placeholderNames } from '../../domain/placeholders.ts';
import type { Fault } from '../ask.ts';
import { count, type Language, moment, pln } from '../language.ts';
import { Act, Field, Figure, isFiltered, Listing, NameFilter, Select, Summary, TextArea } from '../parts.tsx';
import { words } from './words.ts';

const PATH = '/panel/templates';

export type TypeName = 'sms' | 'mms' | 'vms';

interface ListProps {
  language: Language;
  query: URLSearchParams;
  templates: readonly { id: string; name: string; type: TypeName; body: string; updatedAt: Date }[];
  next: string | null;
  /** Whether the person may change templates. */
  manages: boolean;
}

export function List({ language, query, templates, next, manages }: ListProps) {
  const say = words[language];
  return (
    <>
      <p>{say.lead}</p>
      {manages ? (
        <p>
          <a href={`${PATH}/new`}>{say.add}</a>
        </p>
      ) : null}
      <NameFilter {...{ language, query, next }} path={PATH} />
      <Listing
        {...{ language, query, next }}
        path={PATH}
        label={say.heading}
        columns={say.columns}
        rows={templates.map(({ id, name, type, body, updatedAt }) => (
          <tr>
            <th scope="row">
              <a href={`${PATH}/${id}`}>{name}</a>
            </th>
            <td>{say.types[type]}</td>
            <td>{placeholderNames(body).join(', ')}</td>
            <td>{moment(language, updatedAt)}</td>
          </tr>
        ))}
        none={isFiltered(query) ? say.noneFound : say.none}
      />
    </>
  );
}

/** The form of a template: texts as they were typed. */
export interface Form {
  name: string;
  type: string;
  subject: string;
  body: string;
  /** Number of the contact that the preview is for. */
  to: string;
}

interface TemplateProps {
  language: Language;
  /** Null: of a new one. */
  id: string | null;
  form: Form;
  fault: Fault | null;
  preview: Estimate | null;
  manages: boolean;
  saved: boolean;
}

export function Template({ language, id, form, fault, preview, manages, saved }: TemplateProps) {
  const say = words[language];
  const path = `${PATH}/${id ?? 'new'}`;
  return (
    <>
      <Summary language={language} fault={fault} />
      {saved && fault === null ? (
        <p class="notice" role="status">
          {say.saved}
        </p>
      ) : null}
      <form
        method="post"
        action={path}
        class="stack"
        noValidate
        hx-post={path}
        hx-trigger="input delay:500ms"
        hx-vals='{"act":"preview"}'
        hx-target="#preview"
        hx-select="#preview"
        hx-swap="outerHTML"
      >
        <fieldset class="stack" disabled={!manages}>
          <legend class="visually-hidden">{say.details}</legend>
          <Inputs {...{ language, form, fault }} />
          {manages ? (
            <>
              <button name="act" value="save">
                {say.save}
              </button>
              <Field {...{ name: 'to', label: say.to, hint: say.toHint, fault, value: form.to }} type="tel" />
              <button class="second" name="act" value="preview">
                {say.show}
              </button>
            </>
          ) : null}
        </fieldset>
      </form>
      <div id="preview">
        <Preview language={language} estimate={preview} />
      </div>
      {id !== null && manages ? <Acts {...{ language, id, form }} /> : null}
      <p>
        <a href={PATH}>{say.back}</a>
      </p>
    </>
  );
}

function Inputs({ language, form, fault }: Pick<TemplateProps, 'language' | 'form' | 'fault'>) {
  const say = words[language];
  return (
    <>
      <Field {...{ name: 'name', label: say.name, hint: say.nameHint, fault, value: form.name }} required />
      <Select {...{ name: 'type', label: say.type, fault, value: form.type }} options={say.types} />
      <Field
        {...{ name: 'subject', label: say.subject, hint: say.subjectHint, fault, value: form.subject }}
      />
      <TextArea
        {...{ name: 'body', label: say.body, hint: say.bodyHint, fault, value: form.body }}
        rows={8}
      />
    </>
  );
}

function Preview({ language, estimate }: { language: Language; estimate: Estimate | null }) {
  const message = estimate?.messages[0];
  if (message === undefined) return null;
  const say = words[language];
  const special = message.non_gsm7;
  return (
    <section>
      <h2>{say.preview}</h2>
      <pre>{message.text}</pre>
      <dl class="figures">
        <Figure name={say.parts} value={count(language, message.parts)} />
        <Figure name={say.cost} value={pln(language, message.cost_grosze)} />
        <Figure name={say.encoding} value={message.encoding === 'gsm7' ? 'GSM-7' : 'UCS-2'} />
      </dl>
      {special === null ? null : (
        <p class="hint">{say.special(special.character, count(language, special.position))}</p>
      )}
    </section>
  );
}

function Acts({ language, id, form: { name, type } }: { language: Language; id: string; form: Form }) {
  const say = words[language];
  const path = `${PATH}/${id}`;
  return (
    <section>
      {type === 'sms' ? (
        <p>
          <a href={`/panel/send?template_id=${id}`}>{say.send}</a>
        </p>
      ) : null}
      <form method="post" action={`${path}/copy`}>
        <button class="second">{say.copy}</button>
      </form>
      <Act name={name} open={say.remove} text={say.removeText} act={say.removeNow} to={`${path}/delete`} />
    </section>
  );
}
