// Error codes of invalid HTTP requests.
import { portOf, sendRaw } from '../../kit/http/raw-http.ts';
import { type CodeFixture, type Provocation, provocation } from './kit.ts';

const HEAD = 'GET /2025-10-13/config HTTP/1.1\r\nHost: localhost\r\n';

const sendText = async ({ app }: CodeFixture, text: string) =>
  sendRaw(await portOf(app.server), text);

export const HTTP: readonly Provocation[] = [
  provocation(
    'REQUEST_TIMEOUT',
    'Send the headers of a request and no body for a minute',
    async (fixture) => {
      await portOf(fixture.app.server);
      const { server } = fixture.app.server;
      const { requestTimeout, headersTimeout } = server;
      Object.assign(server, { requestTimeout: 100, headersTimeout: 100 });
      try {
        return await sendText(
          fixture,
          'POST /2025-10-13/agents/device-codes/none/redeem HTTP/1.1\r\nHost: localhost\r\n' +
            'Content-Length: 5\r\n\r\n{',
        );
      } finally {
        Object.assign(server, { requestTimeout, headersTimeout });
      }
    },
  ),
  provocation('EXPECTATION_FAILED', 'Send the header `Expect: 200-ok`', (fixture) =>
    sendText(fixture, `${HEAD}Expect: 200-ok\r\n\r\n`),
  ),
  provocation('HEADERS_TOO_LARGE', 'Send more than 16 KiB of headers', (fixture) =>
    sendText(fixture, `${HEAD}X-Long: ${'x'.repeat(20_000)}\r\n\r\n`),
  ),
];
