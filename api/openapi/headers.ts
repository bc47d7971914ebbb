import { idPattern } from '../../domain/ids.ts';
import type { Header, Parameter } from './types.ts';

/** The headers of answers, as components. */
export const HEADERS: Record<string, Header> = {
  'X-Request-Id': {
    description: 'The id of the request, to be quoted in support requests.',
    required: true,
    schema: { type: 'string', pattern: idPattern('req').source },
  },
  RateLimit: {
    description: 'Requests left (`r`) and seconds until the count starts anew (`t`); with a valid key only.',
    schema: { type: 'string', pattern: '^"account";r=[0-9]+;t=[0-9]+$' },
  },
  'RateLimit-Policy': {
    description: 'Requests allowed (`q`) in so many seconds (`w`); with a valid key only.',
    schema: { type: 'string', pattern: '^"account";q=[0-9]+;w=[0-9]+$' },
  },
  'Retry-After': {
    description: 'Seconds until requests are taken again.',
    required: true,
    schema: { type: 'string', pattern: '^[0-9]+$' },
  },
  'Idempotent-Replayed': {
    description: '`true` on a repeated answer: nothing was sent or charged again.',
    schema: { type: 'string', enum: ['true'] },
  },
  Allow: {
    description: 'The methods that the path has.',
    required: true,
    schema: { type: 'string', examples: ['GET, HEAD, OPTIONS'] },
  },
  'WWW-Authenticate': {
    description: 'The scheme to authenticate with.',
    schema: { type: 'string', enum: ['Bearer'] },
  },
};

/** The header that makes a request safe to repeat (v2.3.0, Limits). */
export const IDEMPOTENCY_KEY: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Any text of your own that stands for this one request. Within 24 hours the same key and content get the same answer again, without a new send or charge.',
  schema: { type: 'string', minLength: 1, maxLength: 128, examples: ['order-1042'] },
};
