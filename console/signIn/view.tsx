import { PasskeyForm } from '../../panel/confirm/view.tsx';
import { CodeField, Field, Hidden, Summary } from '../../panel/parts.tsx';

const language = 'en';
const faultIn = (field: string | null, text: string | null) => (text === null ? null : { field, text });

interface SignInProps {
  next: string;
  /** For an authenticator; null: there are no passkeys at this host. */
  question: { challenge: string } | null;
  fault: string | null;
}

/** By passkey, or with an e-mail. */
export function SignInForm({ next, question, fault }: SignInProps) {
  const faults = faultIn('address', fault);
  return (
    <>
      <Summary language={language} fault={faults} />
      <p>The console is for staff. Accounts are made on the command line.</p>
      {question === null ? null : (
        <PasskeyForm
          {...{ language, options: question }}
          action="/console/sign-in"
          fields={{ next, challenge: question.challenge }}
          button="Sign in with a passkey"
        />
      )}
      <form method="post" action="/console/sign-in" class="stack" noValidate>
        <Field
          name="address"
          label="E-mail address"
          type="email"
          required
          autoComplete="email"
          fault={faults}
        />
        <Hidden fields={{ next }} />
        <button>Send an e-mail</button>
      </form>
    </>
  );
}

/** The code of the e-mail. */
export function CodeForm({ address, next, fault }: { address: string; next: string; fault: string | null }) {
  const faults = faultIn('code', fault);
  return (
    <>
      <Summary language={language} fault={faults} />
      <p>
        If <strong>{address}</strong> is an address of staff, an e-mail is on its way.
      </p>
      <form method="post" action="/console/code" class="stack" noValidate>
        <CodeField label="Code of the e-mail" fault={faults} />
        <Hidden fields={{ next }} />
        <button>Continue</button>
      </form>
      <p>
        <a href={`/console/sign-in?next=${encodeURIComponent(next)}`}>Ask for another e-mail</a>
      </p>
    </>
  );
}

export function LinkForm({ path }: { path: string }) {
  return (
    <form method="post" action={path} class="stack">
      <button>Continue</button>
    </form>
  );
}

/** The code of the authenticator app. */
export function AppForm({ next, fault }: { next: string; fault: string | null }) {
  const faults = faultIn('code', fault);
  return (
    <>
      <Summary language={language} fault={faults} />
      <form method="post" action="/console/confirm" class="stack" noValidate>
        <CodeField label="Code of the authenticator app" fault={faults} />
        <Hidden fields={{ next }} />
        <button>Sign in</button>
      </form>
    </>
  );
}
