import { register } from 'node:module';

/*
 * postgres 3.4.9, the latest, buffers small writes until the next turn of the event loop and forgets about them when
 * the connection closes in between. Its author has open reports and fixes: porsager/postgres 1154, 1168, 1208, 1209.
 *
 * - A write to a closed connection (the next statement or the rollback of a transaction whose server has gone) throws
 *   out of a timer, where nobody can catch it: the whole process ends.
 * - The driver asks each new connection for array types, and a connection lost just then rejects a promise that nobody
 *   holds: the process ends as well. The connection's own failure is told to whoever uses it.
 * - A connection closed with a write in its buffer keeps the stale timer and never sends anything again.
 *
 * - A connection that broke with an error fails what was under way, and takes more until it is closed, a moment later:
 *   that is never answered. Who tries again at once is caught by it.
 *
 * - A BEGIN that fills a connection's pipeline (the hundredth statement under way) is sent without reserving the connection
 *   for its transaction, porsager/postgres 1189: the transaction fails, and stays open on a connection that goes back to
 *   the pool. What others write there is answered, and never committed. The same where the socket had to drain.
 *
 * It waits for ever for an answer on a connection that died without a word, as after a failover: one statement after the
 * other takes a connection of the pool with it. `silence`, in milliseconds, ends a connection on which a statement waits
 * and nothing arrives for so long, however much is written to it. Told in ticks, so that a process that stood still is not taken for it.
 *
 * It does not tell either how many of its connections are in use and how many statements wait for one.
 *
 * So the driver's source is corrected while it is loaded. Source that is not as expected stops the start: then there is
 * a new release, and this file is to be looked at again.
 */
const CONNECTION: [string, string][] = [
  ['return fetchArrayTypes()', 'return fetchArrayTypes().catch(() => undefined)'],
  [
    'const x = socket.write(chunk, fn)',
    `if (socket === null) {
      chunk = nextWriteTimer = null
      error(Errors.connection('CONNECTION_CLOSED', options, socket))
      return false
    }
    const x = socket.write(chunk, fn)`,
  ],
  [
    'clearImmediate(nextWriteTimer)\n    socket.',
    'clearImmediate(nextWriteTimer)\n    chunk = nextWriteTimer = null\n    socket.',
  ],
  [
    'clearImmediate(nextWriteTimer)\n    if (',
    'clearImmediate(nextWriteTimer)\n    chunk = nextWriteTimer = null\n    if (',
  ],
  ['return write(toBuffer(q))\n', 'const room = write(toBuffer(q))\n'],
  [
    '&& (!q.options.onexecute || q.options.onexecute(connection))',
    `
      return q.options.onexecute ? socket !== null && q.options.onexecute(connection) : room`,
  ],
  ['!query && onopen(connection)', '!query && !connection.reserved && onopen(connection)'],
  ['!hadError && (query || sent.length) && error(', ';(query || sent.length) && error('],
  [
    'keep_alive && socket.setKeepAlive &&',
    `if (options.silence) {
        const watched = socket
        let silentFor = 0
        const watch = setInterval(() => {
          silentFor = query || sent.length ? silentFor + 1 : 0
          if (silentFor > 10)
            watched.destroy(Object.assign(new Error('the database is silent'), { code: 'ETIMEDOUT' }))
        }, options.silence / 10).unref()
        watched.on('data', () => { silentFor = 0 })
        watched.on('close', () => clearInterval(watch))
      }
      keep_alive && socket.setKeepAlive &&`,
  ],
];

const POOL: [string, string][] = [
  ['socket          : o.socket,', 'socket          : o.socket,\n    silence         : o.silence,'],
  [
    'get parameters() { return options.parameters },',
    `get parameters() { return options.parameters },
    poolState: () => ({
      max: options.max,
      idle: open.length,
      busy: busy.length + full.length + reserved.length,
      connecting: connecting.length,
      waiting: queries.length
    }),`,
  ],
];

const HOOK = `
const correctionsOf = ${JSON.stringify({ connection: CONNECTION, index: POOL })};
export async function load(url, context, next) {
  const loaded = await next(url, context);
  const file = /\\/node_modules\\/postgres\\/src\\/(connection|index)\\.js(\\?|$)/.exec(url);
  if (file === null) return loaded;
  let source = String(loaded.source);
  for (const [from, to] of correctionsOf[file[1]]) {
    if (source.split(from).length !== 2) throw new Error('db/driver.ts does not fit this release of postgres');
    source = source.replace(from, () => to);
  }
  return { ...loaded, source };
}`;

register(`data:text/javascript,${encodeURIComponent(HOOK)}`);

/** The PostgreSQL driver, corrected. */
export const { default: postgres } = await import('postgres');
