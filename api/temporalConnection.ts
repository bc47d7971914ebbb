import {
  Connection,
  type ConnectionOptions,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
} from '@temporalio/client';

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
type Call = ReturnType<Parameters<Interceptor>[1]>;

const CANCELLED = 1;

/** A connection to Temporal that is made with the first call. Calls that wait for their next try fail when it is closed. */
export function temporalConnection(
  server: Pick<ConnectionOptions, 'address' | 'tls' | 'apiKey'>,
): Connection {
  const interceptors = [makeGrpcRetryInterceptor(defaultGrpcRetryOptions()), failingOnceClosed];
  return Connection.lazy({ ...server, interceptors });
}

// A closed channel throws at the next try, which the SDK makes in a timer: nobody could catch it, and the process would end.
const failingOnceClosed: Interceptor = (options, nextCall) => {
  try {
    return nextCall(options) as ReturnType<Interceptor>;
  } catch (error) {
    return failed(String(error)) as ReturnType<Interceptor>;
  }
};

function failed(details: string): Call {
  return {
    start(metadata, listener) {
      queueMicrotask(() => {
        listener?.onReceiveMessage?.(null);
        listener?.onReceiveStatus?.({ code: CANCELLED, details, metadata });
      });
    },
    sendMessageWithContext: () => undefined,
    sendMessage: () => undefined,
    startRead: () => undefined,
    halfClose: () => undefined,
    cancelWithStatus: () => undefined,
    getPeer: () => 'closed',
    getAuthContext: () => null,
  };
}
