// The SDK records a stack for every promise, for Call Stack in the Temporal UI: a third of the time of workflow code.
Error.stackTraceLimit = 0;

export {};
