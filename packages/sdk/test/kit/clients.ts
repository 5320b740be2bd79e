// SDK clients for a test server that listens on a separate port.
import type { AddressInfo } from 'node:net';
import type {
  TestApp,
  CallOptions as TestCallOptions,
} from '../../../../server/test/kit/app/harness.ts';
import { type Client, type ClientOptions, createClient } from '../../src/index.ts';

/** The base URL of a server, which starts to listen on the first call. */
async function baseUrlOf({ server }: TestApp): Promise<string> {
  if (!server.server.listening) await server.listen({ host: '127.0.0.1', port: 0 });
  const { port } = server.server.address() as AddressInfo;
  return `http://127.0.0.1:${port}/2025-10-13`;
}

export async function clientOf(
  app: TestApp,
  options: ClientOptions = {},
  caller: TestCallOptions['platform'] = app.platform,
): Promise<Client> {
  const { clientId, clientSecret } = caller ?? {};
  const credentials = clientId && clientSecret ? { clientId, clientSecret } : {};
  return createClient({ baseUrl: await baseUrlOf(app), ...credentials, ...options });
}

// biome-ignore lint/suspicious/noExplicitAny: replies of every shape, checked by assertions.
type AnyFunction = (input?: object, options?: object) => any;

/** The function of an operation, by its name. */
export function functionOf(client: Client, operationId: string): AnyFunction {
  for (const group of Object.values(client)) {
    const method = (group as Record<string, AnyFunction>)[operationId];
    if (method) return method;
  }
  throw new Error(`The SDK has no operation ${operationId}.`);
}
