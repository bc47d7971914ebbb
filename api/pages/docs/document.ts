import type { OpenApi, Operation, PathItem } from '../../openapi/schemas.ts';
import { html, type Html } from '../html.ts';
import { fieldList, operationSection, type Shown, webhookSection } from './operation.ts';
import { prose } from './prose.ts';
import { objectId, sampleText } from './schema.ts';

const WEBHOOKS = 'Webhooks';

/** The body of the documentation page. @param path URL of the OpenAPI document */
export function documentation(document: OpenApi, path: string): Html {
  const { info, tags, components } = document;
  const resources = tags.map((tag) => ({ ...tag, operations: operationsOf(document, tag.name) }));
  const objects = Object.entries(components.schemas);
  return html`<a class="skip" href="#content">Skip to content</a>
    <div class="layout">
      <nav aria-label="Contents">
        <ul>
          <li><a href="#content">Overview</a></li>
          ${resources.map(
            ({ name, operations }) =>
              html`<li>
                <a href="#${anchor(name)}">${name}</a>
                <ul>
                  ${operations.map(
                    ({ operation }) =>
                      html`<li>
                        <a href="#${operation.operationId}">${operation.summary.replace(/\.$/, '')}</a>
                      </li>`,
                  )}
                </ul>
              </li>`,
          )}
          <li>
            <a href="#objects">Objects</a>
            <ul>
              ${objects.map(([name]) => html`<li><a href="#${objectId(name)}">${name}</a></li>`)}
            </ul>
          </li>
        </ul>
      </nav>
      <main id="content" tabindex="-1">
        <h1>${info.title} API <span class="version">${info.version}</span></h1>
        <p class="lead">${info.summary}</p>
        ${prose(info.description)}
        <p>
          The same for programs: <a href="${path}">OpenAPI document</a>. In the examples <code>$BASE</code> is
          the address of this installation, <code>$KEY</code> your key.
        </p>
        ${resources.map(
          ({ name, description, operations }) =>
            html`<section>
              <h2 id="${anchor(name)}">${name}</h2>
              ${prose(description)}
              ${operations.map((shown) =>
                name === WEBHOOKS ? webhookSection(document, shown) : operationSection(document, shown),
              )}
            </section>`,
        )}
        <section>
          <h2 id="objects">Objects</h2>
          ${objects.map(
            ([name, schema]) =>
              html`<section class="operation">
                <h3 id="${objectId(name)}">${name}</h3>
                ${prose(schema.description ?? '')} ${fieldList(schema)}
                <h4>Example</h4>
                <pre><code>${sampleText(document, schema)}</code></pre>
              </section>`,
          )}
        </section>
      </main>
    </div>`;
}

function operationsOf({ paths, webhooks }: OpenApi, tag: string): Shown[] {
  const items: [string, PathItem][] = tag === WEBHOOKS ? Object.entries(webhooks) : Object.entries(paths);
  return items
    .flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]: [string, Operation]) => ({ path, method, operation })),
    )
    .filter(({ operation }) => operation.tags.includes(tag));
}

function anchor(tag: string): string {
  return `resource-${tag.toLowerCase()}`;
}
