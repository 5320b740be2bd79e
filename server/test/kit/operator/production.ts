// A production platform with a client of the operator API. `change` checks that a change has one
// audit record. `isHidden` checks that an operator of another platform does not find a resource.
import { beforeAll, expect } from 'vitest';
import type { NewOperatorToken } from '../../../src/features/staff/tokens/index.ts';
import type { ApiResponse, AppOptions } from '../app/harness.ts';
import { startProduction } from '../app/production.ts';
import { openForFile } from '../app/test-app.ts';
import { operatorClient } from './client.ts';

/** Opens the platform and the client for the tests of a file. */
export function operatorService(options: AppOptions = {}) {
  const service = openForFile(() => startProduction(options));
  let client: ReturnType<typeof operatorClient> | undefined;
  beforeAll(() => {
    client = operatorClient(service.app);
  });
  const call: ReturnType<typeof operatorClient>['call'] = (...input) => {
    if (!client)
      throw new Error('The client was used before the first hook. Use it in a hook or test.');
    return client.call(...input);
  };

  /** The secret of an operator of one platform. */
  const secretOf = (platformId: string) => client?.secretOf({ platformIds: [platformId] }) ?? '';

  /** Returns the body. The next request to the server fails if the reply broke its contract. */
  async function expectReply(reply: Promise<ApiResponse>, status: number) {
    const { body, ...replyFields } = await reply;
    expect({ status: replyFields.status, body }).toMatchObject({ status });
    await service.app.call('GET', '/config');
    return body;
  }

  return {
    service,
    call,
    secretOf,
    /** The secret of an operator token. The same input returns the same secret. */
    newOperator: (token: Partial<NewOperatorToken>) => client?.secretOf(token) ?? '',
    /** Reads as an operator of all platforms. */
    read: (path: string) => expectReply(call('GET', path), 200),
    /** Changes the installation as an operator of all platforms, and returns the reply. */
    async write(method: string, path: string, body?: object) {
      const reply = await call(method, path, { body });
      expect(reply.status < 300 ? 'done' : reply.body).toBe('done');
      await service.app.call('GET', '/config');
      return reply.body;
    },
    /** Expects the rejection of the request with this code. */
    async rejects(status: number, code: string, ...input: Parameters<typeof call>) {
      const body = await expectReply(call(...input), status);
      expect(body.code).toBe(code);
      return body;
    },
    /** Expects that an operator of another platform does not find the resource. */
    async isHidden(method: string, path: string, body?: unknown) {
      const secret = await secretOf(service.app.other.id);
      const reply = await call(method, path, { body, secret });
      expect({ path, status: reply.status, body: reply.body }).toMatchObject({ status: 404 });
    },
    /** Changes as an operator of the platform, with one audit record about the subject. */
    async change(
      path: string,
      body: object,
      operationId: string,
      subject?: string,
      platformId = service.platform.id,
    ) {
      const filter = `/audit-records?operationId=${operationId}&limit=100`;
      const countBefore = (await call('GET', filter)).body.data.length;
      const secret = await secretOf(platformId);
      const reply = await call('POST', path, { body, secret });
      expect({ isDone: reply.status < 300, body: reply.body }).toMatchObject({ isDone: true });
      const records = (await expectReply(call('GET', filter), 200)).data;
      expect(records).toHaveLength(countBefore + 1);
      expect(records[0]).toMatchObject({
        platformId,
        hasChanges: true,
        ...(subject === undefined ? {} : { subject }),
        ...('reason' in body ? { reason: body.reason } : {}),
      });
      return reply.body;
    },
  };
}
