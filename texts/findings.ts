import type { Words } from './words.ts';

/** A finding, by ids alone. */
interface Finding {
  kind: string;
  subject: string;
  account: string | null;
}

/**
 * The e-mail that tells staff of findings.
 * @param count of all, where not all of them are named
 */
export function findingsWords(findings: readonly Finding[], count: number): Words {
  const lines = findings.map(
    ({ kind, subject, account }) =>
      `- ${kind}: ${subject}${account === null || account === subject ? '' : ` (${account})`}`,
  );
  if (count > findings.length) lines.push(`- and ${count - findings.length} more`);
  return {
    subject: `goniec: ${count === 1 ? 'a new finding' : `${count} new findings`}`,
    text: [
      'The reconciliation has found what needs a person:',
      lines.join('\n'),
      'npm run admin -- findings list shows the details; docs/operations.md says what each kind means and what to do.',
    ].join('\n\n'),
  };
}
