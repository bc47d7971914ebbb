// The SDK writes down the stack of every promise, for a workflow's Call Stack in the Temporal UI: a third of the time that
// workflow code takes. Loaded before the workflows where nobody wants it.
Error.stackTraceLimit = 0;

export {};
