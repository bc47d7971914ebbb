import type { VNode } from 'preact';
import type { OpenApi, Operation, PathItem } from '../../openapi/schemas.ts';
import { FieldList, OperationSection, type Shown, summaryOf, WebhookSection } from './operation.tsx';
import { Prose } from './prose.tsx';
import { objectId, sampleText } from './schema.tsx';

const WEBHOOKS = 'Webhooks';

interface Resource {
  name: string;
  description: string;
  operations: Shown[];
}

/** The body of the documentation page. @param path URL of the OpenAPI document */
export function Documentation({ document, path }: { document: OpenApi; path: string }): VNode {
  const { info, tags, components } = document;
  const resources = tags.map((tag) => ({ ...tag, operations: operationsOf(document, tag.name) }));
  return (
    <>
      <a class="skip" href="#content">
        Skip to content
      </a>
      <div class="layout">
        <Contents resources={resources} objects={Object.keys(components.schemas)} />
        <main id="content" tabindex={-1}>
          <h1>
            {info.title} API <span class="version">{info.version}</span>
          </h1>
          <p class="lead">{info.summary}</p>
          <Prose text={info.description} />
          <p>
            The same for programs: <a href={path}>OpenAPI document</a>. In the examples <code>$BASE</code> is
            the address of this installation, <code>$KEY</code> your key.
          </p>
          {resources.map(({ name, description, operations }) => (
            <section>
              <h2 id={anchor(name)}>{name}</h2>
              <Prose text={description} />
              {operations.map((shown) =>
                name === WEBHOOKS ? (
                  <WebhookSection document={document} shown={shown} />
                ) : (
                  <OperationSection document={document} shown={shown} />
                ),
              )}
            </section>
          ))}
          <section>
            <h2 id="objects">Objects</h2>
            {Object.entries(components.schemas).map(([name, schema]) => (
              <section class="operation">
                <h3 id={objectId(name)}>{name}</h3>
                <Prose text={schema.description} />
                <FieldList schema={schema} />
                <h4>Example</h4>
                <pre>
                  <code>{sampleText(document, schema)}</code>
                </pre>
              </section>
            ))}
          </section>
        </main>
      </div>
    </>
  );
}

function Contents({ resources, objects }: { resources: Resource[]; objects: string[] }): VNode {
  return (
    <nav aria-label="Contents">
      <ul>
        <li>
          <a href="#content">Overview</a>
        </li>
        {resources.map(({ name, operations }) => (
          <li>
            <a href={`#${anchor(name)}`}>{name}</a>
            <ul>
              {operations.map(({ operation }) => (
                <li>
                  <a href={`#${operation.operationId}`}>{summaryOf(operation)}</a>
                </li>
              ))}
            </ul>
          </li>
        ))}
        <li>
          <a href="#objects">Objects</a>
          <ul>
            {objects.map((name) => (
              <li>
                <a href={`#${objectId(name)}`}>{name}</a>
              </li>
            ))}
          </ul>
        </li>
      </ul>
    </nav>
  );
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
