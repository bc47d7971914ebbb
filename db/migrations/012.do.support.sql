-- How many workflows one run of the reconciliation has started again.
create index findings_of_run on findings ((details->>'run')) where details ? 'run';
