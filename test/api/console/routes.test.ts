import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inject } from 'vitest';
import { faultOf } from '../../../console/commands/form.tsx';
import { OFFERS } from '../../../console/commands/offered.ts';
import { newId } from '../../../db/ids.ts';
import { StaffRefused } from '../../../domain/refusals.ts';
import { type ConsoleUnderTest, newStaff, openConsole } from '../../support/console.ts';
import { database } from '../../support/factories.ts';

let opened: ConsoleUnderTest;
beforeAll(async () => {
  opened = await openConsole();
});
afterAll(() => opened.api.stop());

/** A route without rules, which takes nothing from other tests. */
async function route(state: 'draining' | 'disabled'): Promise<string> {
  const name = `r-${newId('evt').slice(-12)}`;
  await database()`insert into routes (name, kind, state, rate_per_second) values (${name}, 'simulator', ${state}, 7)`;
  return name;
}

const hrefs = (html: string): string[] => [...html.matchAll(/href="([^"]+)"/g)].map(([, href = '']) => href);

describe('routes', () => {
  it('are listed, and each has a page with deliveries, workers, rules and what its role may do', async () => {
    const name = await route('draining');
    const { browser: operator } = await newStaff(opened, 'operator');
    const { browser: support } = await newStaff(opened, 'support');
    const list = await operator.get('/console/routes');
    expect(list.status).toBe(200);
    expect(hrefs(list.text)).toContain(`/console/routes/${name}`);
    expect(list.text).toContain('hx-trigger="every 10s"');

    const page = await operator.get(`/console/routes/${name}`);
    for (const heading of ['Deliveries', 'Errors of the last 24 hours', 'Workers', 'Rules', 'In Temporal'])
      expect(page.text).toContain(`<h2>${heading}</h2>`);
    expect(page.text).toContain('0 % of 7 parts/s');
    const acts = ['routes.test', 'routes.enable', 'routes.disable'].map(
      (act) => `/console/commands/${act}?name=${name}`,
    );
    expect(hrefs(page.text)).toEqual(expect.arrayContaining(acts));
    const own = hrefs((await support.get(`/console/routes/${name}`)).text);
    for (const act of acts) expect(own).not.toContain(act);
    const query = `MessageStatus = "queued" AND Route = "${name}" AND ExecutionStatus = "Running"`;
    const ui = `http://127.0.0.1:8233/namespaces/${inject('service').temporalNamespace}/workflows`;
    expect(own).toContain(`${ui}?query=${encodeURIComponent(query)}`);
    expect((await operator.get('/console/routes/nowhere')).status).toBe(404);
  });

  it('are disabled by the form that the page leads to, once the reason is given', async () => {
    const name = await route('draining');
    const { browser } = await newStaff(opened, 'operator');
    const told = await browser.post('/console/commands/routes.disable', { name });
    expect(told.text).toContain('What it would do');
    const stateOf = async () =>
      (await database()`select state from routes where name = ${name}`)[0]?.['state'] as string;
    expect(await stateOf()).toBe('draining');
    const form = { name, confirmed: 'yes', reason: 'Umowa wygasła' };
    expect((await browser.post('/console/commands/routes.disable', form)).text).toContain('Done.');
    expect(await stateOf()).toBe('disabled');
    expect((await browser.get(`/console/routes/${name}`)).text).toContain(
      '<span class="badge bad">disabled</span>',
    );
  });

  it('say why they do not work, which is no fault of the console', () => {
    const { command } = OFFERS.get('routes test')!;
    const refused = new StaffRefused({
      reason: 'route_not_working',
      route: 'plus',
      fault: 'ECONNREFUSED',
      sessions: 0,
    });
    expect(faultOf(command, refused).text).toBe('plus does not work from here: ECONNREFUSED');
  });

  it('say by which rule a number would take them', async () => {
    const { browser } = await newStaff(opened, 'finance');
    const list = await browser.get('/console/routes');
    expect(list.text).toContain('action="/console/commands/routes.which"');
    const { text } = await browser.get('/console/commands/routes.which?to=%2B48500100200&show=yes');
    expect(text).toContain('simulator');
    expect(text).toContain('everything');
  });
});

describe('now', () => {
  it('draws the last hour by the minute and follows it, and says what waits, what wakes, and where alerts are', async () => {
    const { browser } = await newStaff(opened, 'support');
    const { status, text } = await browser.get('/console/now');
    expect(status).toBe(200);
    expect(text.match(/<svg class="bars" role="img"/g)).toHaveLength(6);
    expect(text).toContain('hx-trigger="every 10s"');
    for (const heading of ['Waiting', 'The last hour', 'Wakes in 24 hours', 'Alerts'])
      expect(text).toContain(`<h2>${heading}</h2>`);
    const [table = ''] = /<details>.*?<\/details>/s.exec(text) ?? [];
    expect(table.match(/<tr>/g)).toHaveLength(61);
    expect(text).toContain('Set PROMETHEUS_URL');
    expect(hrefs(text)).toContain('/console/commands/stuck?kind=queued&amp;minutes=0&amp;show=yes');
  });
});
