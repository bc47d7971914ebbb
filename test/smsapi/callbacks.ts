/** What our API answered to a call of the provider's. */
interface CallbackAnswer {
  status: number;
  text: string;
}

/**
 * Calls an address of ours as the provider does: reports by GET with a query, replies by POST with a form
 * (https://www.smsapi.pl/docs/#9-raporty-callback, #10-odbiory-wiadomosci).
 */
export async function callBack(
  address: string,
  fields: Record<string, string>,
  method: 'GET' | 'POST' = 'GET',
): Promise<CallbackAnswer> {
  const form = new URLSearchParams(fields);
  const response =
    method === 'GET'
      ? await fetch(`${address}?${form.toString()}`, { redirect: 'manual' })
      : await fetch(address, { method, body: form, redirect: 'manual' });
  return { status: response.status, text: await response.text() };
}

/** One report, or several in one call: then each field has all values, joined by commas. */
export function reportFields(
  reports: { id: string; status: number; name?: string; idx?: string | null; to?: string }[],
): Record<string, string> {
  const joined = (of: (report: (typeof reports)[number]) => string) => reports.map(of).join(',');
  const now = String(Math.floor(Date.now() / 1000));
  return {
    MsgId: joined(({ id }) => id),
    status: joined(({ status }) => String(status)),
    status_name: joined(({ name }) => name ?? ''),
    idx: joined(({ idx }) => idx ?? ''),
    points: joined(() => '0.16'),
    to: joined(({ to }) => to ?? '48500100200'),
    sent_at: joined(() => now),
    donedate: joined(() => now),
    username: joined(() => 'firma'),
    mcc: joined(() => '260'),
    mnc: joined(() => '6'),
    from: joined(() => 'GONIEC'),
  };
}
