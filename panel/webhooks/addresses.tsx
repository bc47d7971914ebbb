import { PREVIOUS_SIGNATURE_HEADER, SIGNATURE_HEADER } from '../../domain/webhooks.ts';
import type { describeWebhooks } from '../../operations/webhooks/configure.ts';
import type { Fault } from '../ask.ts';
import { type Language, moment } from '../language.ts';
import { Act, Copy, Field, Summary } from '../parts.tsx';
import { words } from './words.ts';

export type Settings = Awaited<ReturnType<typeof describeWebhooks>>;

/** A form of an address as it was sent. */
export interface TypedAddress {
  url?: string;
  legacy_url?: string;
  fault?: Fault;
}

/** Where both interfaces notify, and by which secrets. */
export function Addresses({
  language,
  settings,
  typed,
}: {
  language: Language;
  settings: Settings;
  typed: TypedAddress;
}) {
  const say = words[language];
  const { url, hint, formerUntil, legacyUrl, legacyHint } = settings;
  const fault = typed.fault ?? null;
  return (
    <>
      <Summary language={language} fault={fault} />
      <section>
        <h2>{say.current}</h2>
        <Address
          {...{ language, fault, hint, name: 'url', to: '/panel/webhooks/address', grace: true }}
          value={typed.url ?? url ?? ''}
        />
        {formerUntil === null ? null : (
          <p>
            {say.formerUntil(moment(language, formerUntil))} <code>{PREVIOUS_SIGNATURE_HEADER}</code>.
          </p>
        )}
        <p>
          <a href="/panel/webhooks/signatures">{say.samples}</a>
        </p>
      </section>
      <section>
        <h2>{say.earlier}</h2>
        <p>{say.earlierText}</p>
        <Address
          {...{ language, fault, hint: legacyHint, name: 'legacy_url', to: '/panel/webhooks/earlier' }}
          value={typed.legacy_url ?? legacyUrl ?? ''}
        />
      </section>
      <p>
        <a href="/panel/webhooks">{say.back}</a>
      </p>
    </>
  );
}

interface AddressProps {
  language: Language;
  name: string;
  value: string;
  /** Of the secret. */
  hint: string | null;
  fault: Fault | null;
  to: string;
  /** Whether a former secret signs for another day. */
  grace?: boolean;
}

function Address({ language, name, value, hint, fault, to, grace = false }: AddressProps) {
  const say = words[language];
  return (
    <>
      <form method="post" action={to} class="stack" noValidate>
        <Field {...{ label: say.address, hint: say.addressHint, fault, name, value }} type="url" />
        <button>{say.save}</button>
      </form>
      <p>
        {say.secret}: {hint === null ? say.noSecret : <code>{hint}</code>}
      </p>
      {hint === null ? null : (
        <Act
          {...{ to, name: hint, open: say.rotate, act: say.rotateNow, fields: { rotate: 'yes' } }}
          text={grace ? say.rotateText : say.rotateEarlierText}
        />
      )}
    </>
  );
}

/** A secret, this once. */
export function NewSecret({
  language,
  secret,
  isEarlier,
}: {
  language: Language;
  secret: string;
  isEarlier: boolean;
}) {
  const say = words[language];
  return (
    <>
      <p class="notice">{say.madeText}</p>
      <h2>{isEarlier ? say.earlier : say.current}</h2>
      <pre>
        <code id="secret">{secret}</code>
      </pre>
      <Copy language={language} of="secret" />
      <p>
        <a href="/panel/webhooks/address">{say.back}</a>
      </p>
    </>
  );
}

/** How receivers check the signature. */
export function Samples({
  language,
  samples,
}: {
  language: Language;
  samples: readonly { name: string; code: string }[];
}) {
  const say = words[language];
  return (
    <>
      <p>
        {say.samplesText[0]}
        <code>{SIGNATURE_HEADER}</code>
        {say.samplesText[1]}
      </p>
      {samples.map(({ name, code }) => (
        <section>
          <h2>{name}</h2>
          <pre>
            <code id={`sample-${name}`}>{code}</code>
          </pre>
          <Copy language={language} of={`sample-${name}`} />
        </section>
      ))}
      <p>
        <a href="/panel/webhooks/address">{say.back}</a>
      </p>
    </>
  );
}
