// A client of the operator API, with a token for each set of roles.
import { randomUUID } from 'node:crypto';
import { text as textOf } from 'node:stream/consumers';
import {
  createOperatorToken,
  type NewOperatorToken,
} from '../../../src/features/staff/tokens/index.ts';
import { createOperatorUser } from '../../../src/features/staff/users/index.ts';
import { OPERATOR_BASE_PATH } from '../../../src/http/route.ts';
import { OPERATOR_PERMISSION_NAMES } from '../../../src/kernel/contract/operator-permissions.ts';
import type { ApiResponse, TestApp } from '../app/harness.ts';

/** The operator that creates the tokens of tests. */
export const FIRST_OPERATOR = {
  kind: 'COMMAND',
  id: 'command',
  personId: 'command',
  name: 'test@machine',
  roles: [],
  permissions: OPERATOR_PERMISSION_NAMES,
  platformIds: null,
} as const;

/** A user who creates tokens. A token keeps only the permissions that the user has. */
export async function newOperatorUser(app: TestApp, name = 'User') {
  const details = { name, email: `${randomUUID()}@example.com`, roles: ['administrator'] as const };
  const user = await createOperatorUser(app.runtime, FIRST_OPERATOR, details);
  const operator = { ...FIRST_OPERATOR, kind: 'USER', id: user.id, personId: user.id } as const;
  return {
    user,
    /** The secret of a new token of the user. */
    async secretOf(days = 30): Promise<string> {
      const token = { name: 'Of a user', roles: ['administrator'] as const, days };
      return (await createOperatorToken(app.runtime, operator, token)).secret;
    },
  };
}

interface OperatorRequest {
  body?: unknown;
  headers?: Record<string, string>;
  /** Null sends no credential. */
  secret?: string | null;
}

interface AuditRecord {
  subject?: string;
  platformId?: string;
  customerId?: string;
  reason?: string;
}

export function operatorClient(app: TestApp) {
  const secrets = new Map<string, string>();

  /** The secret of a token with these roles. The same input returns the same secret. */
  async function secretOf(token: Partial<NewOperatorToken> = {}): Promise<string> {
    const key = JSON.stringify(token);
    const existingSecret = secrets.get(key);
    if (existingSecret) return existingSecret;
    const newToken = { name: 'Test', roles: ['administrator'] as const, days: 30, ...token };
    const { secret } = await createOperatorToken(app.runtime, FIRST_OPERATOR, newToken);
    secrets.set(key, secret);
    return secret;
  }

  async function call(
    method: string,
    path: string,
    { body, headers = {}, secret }: OperatorRequest = {},
  ): Promise<ApiResponse> {
    const bearer = secret === undefined ? await secretOf() : secret;
    const reply = await app.server.inject({
      method: method as 'GET',
      url: `${OPERATOR_BASE_PATH}${path}`,
      headers: {
        ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
      payloadAsStream: true,
    });
    const { statusCode: status, headers: replyHeaders } = reply;
    const type = String(replyHeaders['content-type']);
    const stream = reply.stream();
    // A stream of events is not read completely.
    if (type.startsWith('text/event-stream')) stream.destroy();
    const content = stream.destroyed ? '' : await textOf(stream);
    const isJson = type.includes('json') && content !== '';
    return { status, body: isJson ? JSON.parse(content) : content, headers: replyHeaders };
  }

  /** The audit records of the successful requests of an operation, newest first. */
  async function recordsOf(operationId: string): Promise<AuditRecord[]> {
    const path = `/audit-records?operationId=${operationId}&outcome=SUCCEEDED`;
    const { body } = await call('GET', path);
    return body.data;
  }

  return { call, recordsOf, secretOf };
}
