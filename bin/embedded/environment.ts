// Everything a program of others may need to run at all; nothing that is the service's.
const SYSTEM = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'LC_ALL', 'TZ', 'XDG_CACHE_HOME'];
// What fetches something over the network besides.
const NETWORK = [
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS'],
];
// `go help environment`, as far as fetching and building a published module goes.
const GO = [
  ...[
    'GOAUTH',
    'GOCACHE',
    'GOENV',
    'GOFLAGS',
    'GOINSECURE',
    'GOMODCACHE',
    'GONOPROXY',
    'GONOSUMDB',
    'GOPATH',
  ],
  ...['GOPRIVATE', 'GOPROXY', 'GOROOT', 'GOSUMDB', 'GOTMPDIR', 'GOTOOLCHAIN', 'GOVCS', 'CGO_ENABLED', 'CC'],
];
// What configures Node itself.
const NODE = ['NODE_OPTIONS', 'NODE_ENV', 'NODE_USE_SYSTEM_CA', 'UV_THREADPOOL_SIZE', 'npm_lifecycle_event'];

/** The variables of our own that a child is given: all children get those of `system`. */
export function environmentFor(...needs: ('network' | 'go' | 'node')[]): NodeJS.ProcessEnv {
  const lists = { network: NETWORK, go: GO, node: NODE };
  return pick([...SYSTEM, ...needs.flatMap((need) => lists[need])]);
}

/** The variables among ours that have one of these names, or one that a pattern fits. */
export function pick(names: readonly string[], pattern?: RegExp): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => names.includes(name) || pattern?.test(name) === true),
  );
}
