// `doctor` against servers that reply with an error to one request. A proxy in front of the server sends
// this reply and forwards all other requests.
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { startTestServer } from './kit/cli.ts';

const server = startTestServer('doctor');

interface ErrorReply {
  readonly status: number;
  readonly code: string;
  readonly reason: string;
}

/** Output and exit code of `doctor` for a server that replies with this error to `/sandbox/clock`. */
async function diagnose(reply: ErrorReply) {
  const proxy = http.createServer(({ url = '', method, headers }, response) => {
    if (url.endsWith('/sandbox/clock')) {
      response.writeHead(reply.status, { 'content-type': 'application/json' });
      response.end(JSON.stringify(reply));
      return;
    }
    const forwardedRequest = http.request(
      new URL(url, server.running.origin),
      { method, headers },
      (forwarded) => {
        response.writeHead(forwarded.statusCode ?? 502, forwarded.headers);
        forwarded.pipe(response);
      },
    );
    forwardedRequest.end();
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const { port } = proxy.address() as AddressInfo;
  try {
    return await server.cli.run(['doctor', '--base-url', `http://127.0.0.1:${port}`]);
  } finally {
    proxy.closeAllConnections();
    proxy.close();
  }
}

describe('the clock of the platform', () => {
  it('is not checked for a platform without a sandbox clock', async () => {
    const reason = 'This operation is available with sandbox credentials only.';
    const { code, out } = await diagnose({ status: 403, code: 'FORBIDDEN', reason });
    // The output shows which other check failed.
    expect([code, out.split('\n').filter((line) => line.includes('✗'))]).toEqual([0, []]);
    expect(out).toMatch(/✓ Clock of the platform +This operation is available with sandbox/);
  });

  it('is a failed check if the clock cannot be read', async () => {
    const reason = 'The clock has no row.';
    const { code, out } = await diagnose({ status: 404, code: 'NOT_FOUND', reason });
    expect(code).toBe(1);
    expect(out).toMatch(/✗ Clock of the platform +The clock has no row\./);
  });
});
