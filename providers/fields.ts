import { X509Certificate } from 'node:crypto';
import { z } from 'zod';

export const host = z
  .string()
  .max(253)
  .regex(/^[a-z0-9._:-]+$/i, 'a host name or an IP address');

/** Setting: CA certificates to trust instead of Node's, PEM. */
export const certificates = z.string().max(100_000).refine(isCertificate, 'certificates in PEM');

export const ownSecret = z
  .string()
  .regex(/^[A-Za-z0-9_-]{32,128}$/, 'must be 32 to 128 letters, digits, "_" or "-"');

// Anything else would count as no CA at all, and be displayed with the settings.
function isCertificate(pem: string): boolean {
  try {
    return Boolean(new X509Certificate(pem));
  } catch {
    return false;
  }
}
