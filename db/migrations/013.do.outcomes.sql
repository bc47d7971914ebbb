-- Outcomes on their way to a workflow: nobody else takes them until then. Told once more they do no harm.
alter table outcome_signals add column taken_until timestamptz;
