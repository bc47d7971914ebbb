import { X509Certificate } from 'node:crypto';
import { z } from 'zod';

/** A setting: where a provider listens. */
export const host = z
  .string()
  .max(253)
  .regex(/^[a-z0-9._:-]+$/i, 'a host name or an IP address');

/** A setting: whom to trust beside those that Node does, PEM. */
export const certificates = z.string().max(100_000).refine(isCertificate, 'certificates in PEM');

/** A secret of our own making. */
export const ownSecret = z
  .string()
  .regex(/^[A-Za-z0-9_-]{32,128}$/, 'must be 32 to 128 letters, digits, "_" or "-"');

// Whatever else is typed here would be taken for no authority at all, and be shown with the settings.
function isCertificate(pem: string): boolean {
  try {
    return Boolean(new X509Certificate(pem));
  } catch {
    return false;
  }
}
