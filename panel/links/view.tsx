import type { getLink, listLinks } from '../../api/links.ts';
import type { AnswerOf, Fault } from '../ask.ts';
import { count, type Language, moment } from '../language.ts';
import { Facts, Filters, isFiltered, Listing, Select, Table } from '../parts.tsx';
import { words } from './words.ts';

type Page = AnswerOf<(typeof listLinks)['responses']>;
type Shown = AnswerOf<(typeof getLink)['responses']>;

const PATH = '/panel/links';

interface LinksProps {
  language: Language;
  query: URLSearchParams;
  found: { answer: Page | null; fault: Fault | null };
}

export function Links({ language, query, found: { answer, fault } }: LinksProps) {
  const say = words[language];
  return (
    <>
      <p>{say.lead}</p>
      <Filters language={language} path={PATH}>
        <Select
          name="clicked"
          label={say.shown}
          options={{ '': say.all, true: say.clickedOnly }}
          value={query.get('clicked') ?? ''}
        />
      </Filters>
      <Listing
        {...{ language, query, fault, path: PATH }}
        next={answer?.next_cursor ?? null}
        live={!query.has('cursor')}
        label={say.heading}
        columns={say.columns}
        rows={(answer?.data ?? []).map(({ token, url, to, clicks, last_click_at }) => (
          <tr>
            <th scope="row">
              <a href={`${PATH}/${token}`}>{token}</a>
            </th>
            <td class="text">
              <p class="cut">{url}</p>
            </td>
            <td>{to}</td>
            <td>{count(language, clicks)}</td>
            <td>{last_click_at === null ? say.never : moment(language, new Date(last_click_at))}</td>
          </tr>
        ))}
        none={isFiltered(query) ? say.noneFound : say.none}
      />
    </>
  );
}

export function Link({ language, link }: { language: Language; link: Shown }) {
  const say = words[language];
  const { short_url, url, message_id, to, clicks, created_at, click_log } = link;
  return (
    <>
      <Facts
        rows={[
          [say.facts.short, short_url],
          [say.facts.url, url],
          [say.facts.to, message_id === null ? to : <a href={`/panel/messages/${message_id}`}>{to}</a>],
          [say.facts.created, moment(language, new Date(created_at))],
          [say.facts.clicks, count(language, clicks)],
        ]}
      />
      <section>
        <h2>{say.clicks}</h2>
        {click_log.length === 0 ? (
          <p>{say.noClicks}</p>
        ) : (
          <Table label={say.clicks} columns={say.clickColumns}>
            {click_log.map(({ clicked_at, user_agent, robot }) => (
              <tr>
                <th scope="row">{moment(language, new Date(clicked_at))}</th>
                <td class="text">
                  {user_agent} {robot ? <span class="badge">{say.robot}</span> : null}
                </td>
              </tr>
            ))}
          </Table>
        )}
      </section>
    </>
  );
}
