// An identity verification service of an operator: a local HTTP server that keeps every received
// case. The test sets its replies.
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { IdentityCase } from '../../../src/connectors/ports/index.ts';

export interface IdentityService {
  url: string;
  /** All received cases, in order. */
  cases: IdentityCase[];
  /** Sets the reply: a value as JSON with 200, or a function. */
  respondWith(reply: object | ((reply: ServerResponse, submittedCase: IdentityCase) => void)): void;
  close(): Promise<void>;
}

export async function startIdentityService(): Promise<IdentityService> {
  const cases: IdentityCase[] = [];
  let respond: (reply: ServerResponse, submittedCase: IdentityCase) => void = (reply) =>
    reply.writeHead(503).end();
  const server: Server = createServer((request, reply) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', () => {
      const submittedCase = JSON.parse(Buffer.concat(chunks).toString()) as IdentityCase;
      cases.push(submittedCase);
      respond(reply, submittedCase);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/cases`,
    cases,
    respondWith(replyOrFunction) {
      respond =
        typeof replyOrFunction === 'function'
          ? (replyOrFunction as typeof respond)
          : (reply) =>
              reply
                .writeHead(200, { 'content-type': 'application/json' })
                .end(JSON.stringify(replyOrFunction));
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
