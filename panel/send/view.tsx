import type { Estimate } from '../../api/messages/estimate.ts';
import type { Fault } from '../ask.ts';
import { SHOWN_MAX } from '../byName.ts';
import { count, type Language, pln } from '../language.ts';
import { Field, Figure, Hidden, Select, Summary, TextArea } from '../parts.tsx';
import { PARAM, type Typed } from './form.ts';
import { words } from './words.ts';

interface Choices {
  groups: readonly { id: string; name: string; members: number }[];
  templates: readonly { id: string; name: string }[];
  senders: readonly string[];
  /** The sender of who chooses none. */
  sender: string;
  /** Sending hours of the account. */
  window: string | null;
  /** Takes tests. */
  ownNumber: string | null;
}

interface Outcome {
  answer: Estimate | null;
  fault: Fault | null;
}

interface FormProps {
  language: Language;
  typed: Typed;
  choices: Choices;
  /** Placeholders of the chosen template. */
  params: readonly string[];
  outcome: Outcome;
  /** Id of a test message just sent. */
  tested: string | undefined;
  /** The same content is sent from the form once. */
  formKey: string;
}

export function SendForm({ language, typed, choices, params, outcome, tested, formKey }: FormProps) {
  const say = words[language];
  const { groups, templates, senders, sender, window: hours, ownNumber } = choices;
  const { fault } = outcome;
  const about = (name: keyof typeof say.fields) => ({
    ...{ name, label: say.fields[name], fault },
    value: typed.get(name) ?? '',
  });
  return (
    <>
      <Summary language={language} fault={fault} />
      {tested === undefined ? null : (
        <p class="notice" role="status">
          {say.tested} <a href={`/panel/messages/${tested}`}>{say.testedLink}</a>
        </p>
      )}
      <div class="beside">
        <form
          method="post"
          action="/panel/send"
          class="stack"
          noValidate
          hx-post="/panel/send/estimate"
          hx-trigger="input delay:400ms"
          hx-sync="this:replace"
          hx-target="#estimate"
          hx-select="#estimate"
          hx-select-oob="#params:outerMorph"
          hx-swap="outerMorph"
        >
          <Hidden fields={{ key: formKey }} />
          <TextArea {...about('to')} hint={say.toHint} />
          <Select
            {...about('groups')}
            hint={say.groupsHint + (groups.length < SHOWN_MAX ? '' : ` ${say.moreGroups}`)}
            options={{
              '': say.noGroup,
              ...Object.fromEntries(
                groups.map(({ id, name, members }) => [id, `${name} (${count(language, members)})`]),
              ),
            }}
          />
          <TextArea {...about('text')} hint={say.textHint} rows={6} />
          <Select
            {...about('template_id')}
            hint={say.templateHint + (templates.length < SHOWN_MAX ? '' : ` ${say.moreTemplates}`)}
            options={{
              '': say.noTemplate,
              ...Object.fromEntries(templates.map(({ id, name }) => [id, name])),
            }}
          />
          <Params {...{ language, typed, params }} />
          <Select
            {...about('from')}
            options={{
              '': say.usualSender(sender),
              ...Object.fromEntries(senders.map((name) => [name, name])),
            }}
          />
          <Field {...about('send_at')} hint={say.sendAtHint} type="datetime-local" />
          <Field
            {...about('send_window')}
            hint={say.windowHint(hours)}
            placeholder="08:00-20:00"
            autocomplete="off"
          />
          <div class="actions">
            <button>{say.next}</button>
            <button class="second" formaction="/panel/send/estimate">
              {say.estimate}
            </button>
            {ownNumber === null ? null : (
              <button class="second" formaction="/panel/send/test">
                {say.test(ownNumber)}
              </button>
            )}
          </div>
          {ownNumber === null ? (
            <p>
              <a href="/panel/numbers">{say.noOwnNumber}</a>
            </p>
          ) : null}
        </form>
        <Estimated {...{ language, outcome }} />
      </div>
    </>
  );
}

/** Fields of the placeholders of a template; the contact book fills in those left empty. */
export function Params({
  language,
  typed,
  params,
}: {
  language: Language;
  typed: Typed;
  params: readonly string[];
}) {
  const say = words[language];
  return (
    <div id="params" class="field">
      {params.length === 0 ? null : (
        <fieldset>
          <legend>{say.params}</legend>
          <p class="hint">{say.paramsHint}</p>
          {params.map((name) => (
            <Field
              name={PARAM + name}
              label={name}
              value={typed.get(PARAM + name) ?? ''}
              autocomplete="off"
            />
          ))}
        </fieldset>
      )}
    </div>
  );
}

/** What the form would come to, and the text as a phone shows it. */
export function Estimated({
  language,
  outcome: { answer, fault },
}: {
  language: Language;
  outcome: Outcome;
}) {
  const say = words[language];
  return (
    <div id="estimate">
      <h2>{say.preview}</h2>
      {answer === null ? (
        <p role="status">{fault?.text ?? say.nothingYet}</p>
      ) : (
        <>
          <Total language={language} estimate={answer} />
          <p class="bubble">{answer.messages[0]!.text}</p>
          <NonGsm7 language={language} estimate={answer} />
        </>
      )}
    </div>
  );
}

/** Recipients, parts and price. */
export function Total({ language, estimate }: { language: Language; estimate: Estimate }) {
  const { figures, netHint } = words[language];
  const { accepted, total_parts, total_cost_grosze, test_mode } = estimate;
  return (
    <>
      <dl class="figures">
        <Figure name={figures.accepted} value={count(language, accepted)} />
        <Figure name={figures.parts} value={count(language, total_parts)} />
        {test_mode === true ? (
          <Figure name={figures.free} value={count(language, accepted)} />
        ) : (
          <Figure name={figures.cost} value={pln(language, total_cost_grosze)} />
        )}
      </dl>
      {test_mode === true ? null : <p class="hint">{netHint}</p>}
    </>
  );
}

/** Why a text takes more parts than its length suggests. */
export function NonGsm7({ language, estimate }: { language: Language; estimate: Estimate }) {
  const { non_gsm7: found, parts } = estimate.messages[0]!;
  return found === null || parts === 1 ? null : (
    <p class="hint">{words[language].nonGsm7(found.character, found.position)}</p>
  );
}
