import { METHODS } from 'node:http';
import type { Mount } from '../api/app.ts';
import { type Page, servePage } from '../api/http/page.ts';
import { HttpRefused } from '../api/http/refusals.ts';
import type { Context } from '../api/http/serve.ts';
import type { Services } from '../api/services.ts';
import { isLoopback, LOOPBACK_HOSTS, plainAddress } from '../domain/addresses.ts';
import { hasSimulatedNetwork } from '../operations/support/simulator.ts';
import { emailHtmlPage, emailPage, mailboxPage } from './mail.tsx';
import { overviewPage } from './overview.tsx';
import { checkoutPage, paymentsPage } from './payments.tsx';
import { phonePage } from './phone.tsx';

// What proxies add to requests.
const FORWARDED = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
];

/** `/simulator`: the phones and mailboxes of the simulated network. Where it is closed, it is as any unknown path. */
export function simulatorPages(): Mount[] {
  return [overviewPage, phonePage, mailboxPage, emailPage, emailHtmlPage, paymentsPage, checkoutPage].map(
    mountOf,
  );
}

function mountOf(page: Page): Mount {
  const allowed = page.methods.includes('POST') ? ['GET', 'HEAD', 'POST'] : ['GET', 'HEAD'];
  return {
    paths: [page.path],
    methods: METHODS,
    async serve(services, context) {
      if (!(await isOpen(services, context))) throw new HttpRefused({ reason: 'route_unknown' });
      const { method } = context;
      if (!allowed.includes(method)) throw new HttpRefused({ reason: 'method_not_allowed', method, allowed });
      await servePage(page, services, context);
    },
  };
}

async function isOpen({ settings, routing }: Services, context: Context): Promise<boolean> {
  return (settings.SIMULATOR_PUBLIC || isLocal(context)) && hasSimulatedNetwork(await routing());
}

/**
 * Whether a request comes from this machine itself, not through a proxy on it: those add headers, or speak HTTP/1.0 as nginx does. Its
 * host is a name of this machine, or the page of another site could have made a name of its own lead here (DNS rebinding).
 */
function isLocal({ req, headers }: Context): boolean {
  const address = plainAddress(req.socket.remoteAddress ?? '');
  const host = `http://${headers.host ?? ''}`;
  return (
    address !== null &&
    isLoopback(address) &&
    req.httpVersion !== '1.0' &&
    !FORWARDED.some((name) => name in headers) &&
    URL.canParse(host) &&
    LOOPBACK_HOSTS.has(new URL(host).hostname)
  );
}
