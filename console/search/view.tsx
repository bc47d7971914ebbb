import type { Shown } from '../../commands/command.ts';
import type { Fault } from '../../panel/ask.ts';
import { Summary } from '../../panel/parts.tsx';
import type { Answer } from '../../panel/route.ts';
import { Result } from '../commands/result.tsx';

/** What was found. */
export function searchPage({ fault, shown }: { fault: Fault | null; shown: Shown | null }): Answer {
  const view = (
    <>
      <Summary language="en" fault={fault} />
      {shown === null ? (
        <p>
          Type or paste what a customer quotes: a number, an address, an id, a sender, a reference, a line of
          a log. The command line has it as <code>find</code>.
        </p>
      ) : (
        <Result shown={shown} />
      )}
    </>
  );
  return { status: fault === null ? 200 : 422, title: 'Search', view };
}
