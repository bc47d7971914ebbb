import type { TemporalUi, TemporalView } from '../domain/temporalViews.ts';
import type { StaffVisit } from './route.ts';

/** Links to saved views of the Temporal UI; nothing where it is not known. */
export function InTemporal({
  visit: { settings, services },
  views,
}: {
  visit: StaffVisit;
  views: readonly ((ui: TemporalUi) => TemporalView)[];
}) {
  const { temporalUiUrl: url } = settings;
  if (url === null || views.length === 0) return null;
  const { namespace } = services.temporal.options;
  return (
    <section>
      <h2>In Temporal</h2>
      <ul class="rows links">
        {views.map((view) => {
          const { question, link } = view({ url, namespace });
          return (
            <li>
              <a href={link}>{question}</a>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
