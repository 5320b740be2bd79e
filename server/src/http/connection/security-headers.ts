// Headers that protect users who open a reply in a browser. The headers are set on the bare response, so
// that replies without a route have them as well. `raw-errors.ts` writes the same headers on bare
// connections.
import type { FastifyInstance } from 'fastify';

/** One year. Subdomains are excluded, because the operator may use them for other purposes. */
const HSTS = 'max-age=31536000';

export type SecurityHeaders = readonly (readonly [name: string, value: string])[];

/** The headers of every reply. With a public HTTPS URL, browsers use only https. */
export const securityHeadersOf = (publicUrl: string | undefined): SecurityHeaders => [
  ['x-content-type-options', 'nosniff'],
  ...(publicUrl?.startsWith('https:') ? [['strict-transport-security', HSTS] as const] : []),
];

/** Adds the headers to every response of the server. */
export function addSecurityHeaders(server: FastifyInstance, headers: SecurityHeaders): void {
  server.server.prependListener('request', (_request, response) => {
    for (const [name, value] of headers) response.setHeader(name, value);
  });
}
