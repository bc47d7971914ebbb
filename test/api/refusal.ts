const CODES: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  401: 'unauthorized',
  402: 'insufficient_funds',
  403: 'forbidden',
  404: 'not_found',
  409: 'invalid_request',
  422: 'invalid_request',
  429: 'rate_limited',
  502: 'provider_error',
  504: 'provider_error',
};

/** What an answer with an error has in common with others of its status; `param` where the error names a field. */
export function refusal(status: number, param?: string) {
  return { status, body: { error: { code: CODES[status], ...(param === undefined ? {} : { param }) } } };
}
