import type { ComponentChildren } from 'preact';
import { htmlAnswer } from '../../pages/document.tsx';
import type { PageAnswer } from '../http/page.ts';

/** A short page in Polish. */
export function shortPage(status: number, heading: string, text: ComponentChildren): PageAnswer {
  const body = (
    <main class="short">
      <h1>{heading}</h1>
      {text}
    </main>
  );
  return htmlAnswer(status, { lang: 'pl', title: heading, body });
}

/** Error page of a public link. */
export function failurePage(status: number, heading: string, requestId: string): PageAnswer {
  return shortPage(
    status,
    heading,
    <>
      <p>Usługa jest chwilowo niedostępna. Otwórz ten link jeszcze raz za kilka minut.</p>
      <p>Identyfikator zdarzenia: {requestId}</p>
    </>,
  );
}
