import type { ComponentChildren, VNode } from 'preact';
import { withPlainErrors } from '../api/callbacks/pages.ts';
import { readBytes } from '../api/http/body.ts';
import type { Page, PageAnswer, Visit } from '../api/http/page.ts';
import type { StaffActor } from '../domain/actor.ts';
import { type StaffServices, staffServices } from '../operations/staff.ts';
import { asset } from '../pages/assets.ts';
import { htmlAnswer } from '../pages/document.tsx';
import { isSameOrigin } from '../pages/sameOrigin.ts';

const STYLE = asset(new URL('simulator.css', import.meta.url));
/** Entries of a list. */
export const PAGE_ENTRIES = 50;
/** Characters of a body on a page of its own, and in a list. */
export const BODY_MAX = 20_000;
export const PREVIEW_MAX = 160;
const FORM_BYTES = 64 * 1024;

interface Handlers {
  get: (visit: Visit, query: URLSearchParams) => Promise<PageAnswer>;
  post?: (visit: Visit, form: URLSearchParams) => Promise<PageAnswer>;
}

/** A page of the simulator; its forms are sent to its own address. */
export function simulatorPage(path: string, { get, post }: Handlers): Page {
  return {
    path,
    methods: post === undefined ? ['GET'] : ['GET', 'POST'],
    visitors: true,
    async handle(visit) {
      if (visit.method !== 'POST') return await get(visit, new URLSearchParams(visit.query));
      if (!isSameOrigin(visit.headers))
        return problem(403, 'This form was not sent by a page of the simulator.');
      return await withPlainErrors(posted(visit, post!));
    },
    failed: (status) => problem(status, 'Something went wrong. Please try again in a moment.'),
  };
}

async function posted(visit: Visit, post: NonNullable<Handlers['post']>): Promise<PageAnswer> {
  const bytes = await readBytes(visit.request, { limitBytes: FORM_BYTES });
  return await post(visit, new URLSearchParams(bytes.toString()));
}

/** What a recipient does is asked of the same operations as by staff. */
export function asking({ services }: Visit): { services: StaffServices; actor: StaffActor } {
  return { services: staffServices(services), actor: { kind: 'staff', name: 'simulator' } };
}

/** After a form: shows the page anew, so that reloading sends nothing twice. */
export function seeOther(path: string): PageAnswer {
  return { status: 303, headers: { Location: path }, body: '' };
}

export function problem(status: number, sentence: string): PageAnswer {
  return framed('Simulator', <p>{sentence}</p>, status);
}

/** A page within the frame of all of them. */
export function framed(title: string, children: ComponentChildren, status = 200): PageAnswer {
  const body = (
    <>
      <header class="bar">
        <a class="brand" href="/simulator">
          Simulator
        </a>
        <p>What phones and mailboxes of the simulated network received. Nothing has left this machine.</p>
        <a class="button" href="">
          Reload
        </a>
      </header>
      <main>{children}</main>
    </>
  );
  const headers = { 'Referrer-Policy': 'same-origin' };
  return htmlAnswer(status, { lang: 'en', title, style: STYLE, headers, body });
}

/** The position after which a list goes on. */
export function beforeOf(query: URLSearchParams): number | null {
  const before = query.get('before') ?? '';
  return /^[0-9]{1,16}$/.test(before) ? Number(before) : null;
}

/** The way to older entries, if there may be some. */
export function Older({
  entries,
  path,
}: {
  entries: readonly { position: number }[];
  path: string;
}): VNode | null {
  const last = entries.at(PAGE_ENTRIES - 1);
  if (last === undefined) return null;
  return (
    <a class="older" href={`${path}${path.includes('?') ? '&' : '?'}before=${last.position}`}>
      Older
    </a>
  );
}

// With a scheme, or as texts have our short links: without one.
const LINK =
  /((?:https?:\/\/|(?<![\w.@/-])(?:(?:[a-z0-9-]{1,63}\.){1,5}[a-z]{2,24}|localhost|\d{1,3}(?:\.\d{1,3}){3})(?::\d{1,5})?\/)[^\s<>"']*[^\s<>"'.,;:!?)\]}])/i;

/** Text of others: its links can be clicked, as on a phone. */
export function Linked({ text }: { text: string }): VNode {
  return <>{text.split(LINK).map((piece, i) => (i % 2 === 1 ? <Link to={piece} /> : piece))}</>;
}

function Link({ to }: { to: string }): VNode {
  const url = /^https?:/i.test(to) ? to : `http://${to}`;
  if (!URL.canParse(url)) return <>{to}</>;
  return (
    <a href={url} target="_blank" rel="noopener noreferrer">
      {to}
    </a>
  );
}

const TIME = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium',
  timeStyle: 'medium',
  timeZone: 'Europe/Warsaw',
});

export function Time({ at }: { at: Date }): VNode {
  return <time datetime={at.toISOString()}>{TIME.format(at)}</time>;
}

/** `+48 500 100 200`. */
export function spaced(msisdn: string): string {
  return msisdn.replace(/^(\+48)(\d{3})(\d{3})(\d{3})$/, '$1\u00a0$2\u00a0$3\u00a0$4');
}

export function phonePath(msisdn: string): string {
  return `/simulator/phone?number=${encodeURIComponent(msisdn)}`;
}

export function mailboxPath(address: string): string {
  return `/simulator/mailbox?address=${encodeURIComponent(address)}`;
}

export function emailPath(id: string): string {
  return `/simulator/email?id=${id}`;
}
