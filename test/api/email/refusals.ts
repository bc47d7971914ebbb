import { LEAST, type MailAccount, refusedTo } from '../../support/email.ts';

/** What a hostile caller would have smuggled into an e-mail. */
export const INJECTED = 'Bcc: ktos@obcy.example';

/** In no place of an e-mail that becomes a header an end of line is taken. */
export async function endOfLineRefused(account: MailAccount, ends: string): Promise<void> {
  const inside = `a${ends}${INJECTED}`;
  const address = `jan@klient.example${ends}${INJECTED}`;
  for (const field of ['to', 'from', 'reply_to'])
    await refusedTo(account, { ...LEAST, [field]: address }, field);
  for (const field of ['to', 'cc', 'bcc']) {
    await refusedTo(account, { ...LEAST, [field]: [address] }, field);
    await refusedTo(account, { ...LEAST, [field]: [`jan${ends}@klient.example`] }, field);
    await refusedTo(account, { ...LEAST, [field]: [`jan@klient.example${ends}`] }, field);
  }
  for (const field of ['subject', 'from_name']) {
    await refusedTo(account, { ...LEAST, [field]: inside }, field);
    await refusedTo(account, { ...LEAST, [field]: `a${ends}` }, field);
  }
  await refusedTo(account, { ...LEAST, headers: { 'List-Id': inside } }, 'headers');
  await refusedTo(account, { ...LEAST, headers: { [`List-Id${ends}`]: 'a' } }, 'headers');
  const file = { filename: 'a.pdf', content: 'YQ==' };
  for (const one of [
    { ...file, filename: `a${ends}b.pdf` },
    { ...file, content_id: `a${ends}b` },
  ])
    await refusedTo(account, { ...LEAST, attachments: [one] }, 'attachments');
}

/** In no field that has addresses it is one. */
export async function addressRefused(account: MailAccount, address: string): Promise<void> {
  await refusedTo(account, { ...LEAST, to: address }, 'to');
  await refusedTo(account, { ...LEAST, cc: ['a@klient.example', address] }, 'cc');
  await refusedTo(account, { ...LEAST, reply_to: address }, 'reply_to');
  await refusedTo(account, { ...LEAST, from: address }, 'from');
}

/** With no value it may be a header, null neither. */
export async function headerRefused(account: MailAccount, name: string): Promise<void> {
  for (const value of ['"a"', 'null'])
    await refusedTo(
      account,
      `{"to":"a@b.pl","subject":"x","text":"x","idx":"x","headers":{${JSON.stringify(name)}:${value}}}`,
      'headers',
    );
}

/** A field does not take values of a type that is not its own, at any depth. */
export async function wrongTypesRefused(account: MailAccount, field: string): Promise<void> {
  const wrong = [
    0,
    true,
    1e300,
    {},
    { a: 1 },
    [[]],
    [null],
    [{}],
    [1],
    [['a@b.pl']],
    { to: 'a@b.pl' },
    'tak',
  ];
  const right: Record<string, unknown[]> = {
    ...{ list_unsubscribe: [true], headers: [{}], attachments: [] },
    ...{ subject: ['tak'], html: ['tak'], text: ['tak'], from_name: ['tak'], idx: ['tak'] },
  };
  for (const value of wrong) {
    if (right[field]?.some((one) => JSON.stringify(one) === JSON.stringify(value))) continue;
    await refusedTo(account, { ...LEAST, [field]: value }, field);
  }
}
