/** The interfaces of the service: the earlier one (v1.2.0) and the current one (v2.3.0). */
export type Interface = 'v1' | 'v2';

/** The one of whatever names none. */
export const INTERFACE: Interface = 'v2';
