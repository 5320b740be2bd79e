// Headers that protect whoever opens a reply in a browser. They are set on the bare response, so that replies
// which no route gives carry them as well.
import type { FastifyInstance } from 'fastify';

/** One year. Subdomains are the operator's own decision. */
const HSTS = 'max-age=31536000';

/** Adds the headers to every reply. Below a public address with https, browsers stay with https. */
export function addSecurityHeaders(server: FastifyInstance, publicUrl: string | undefined): void {
  const secure = publicUrl?.startsWith('https:') ?? false;
  server.server.prependListener('request', (_request, reply) => {
    reply.setHeader('x-content-type-options', 'nosniff');
    if (secure) reply.setHeader('strict-transport-security', HSTS);
  });
}
