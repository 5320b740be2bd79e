// The callers of the attacked server: a victim whose data must stay hidden, an attacker with valid
// credentials, agents of these tenants, and operators.
import { createIds, type Ids } from './ids.ts';
import { openConnection, type Reply } from './wire.ts';

// biome-ignore lint/suspicious/noExplicitAny: replies of every shape.
type Json = any;

export const BASE = '/2025-10-13';
export const OPERATOR_BASE = '/operator/v1';

/** Built-in worlds that fill a platform with resources of many kinds. */
const WORLDS = ['starter', 'customers', 'cards', 'agents', 'deposits', 'stablecoins'];

export interface Tenant {
  id: string;
  /** Values of the Authorization header. */
  authorization: string;
  agent: string;
  ids: Ids;
}

/** Sends a request without mutations. `authorization` is undefined for public operations. */
export type Call = (
  method: string,
  path: string,
  authorization: string | undefined,
  body?: Json,
  headers?: Record<string, string>,
) => Promise<{ status: number; body: Json; reply: Reply }>;

const basicAuthorization = ({ clientId, clientSecret }: Json) =>
  `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;

export interface RequestParts {
  method: string;
  path: string;
  headers: readonly (readonly [string, string])[];
  body?: Buffer | string | undefined;
}

/** The bytes of a request with its head and body. */
export function requestBytes({ method, path, headers, body }: RequestParts): Buffer {
  const payload = body === undefined ? undefined : Buffer.from(body);
  const fields = [
    ['host', 'localhost'],
    ...headers,
    ...(payload ? [['content-length', String(payload.length)]] : []),
  ];
  const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  const start = Buffer.from(`${method} ${path} HTTP/1.1\r\n${head}\r\n`);
  return payload ? Buffer.concat([start, payload]) : start;
}

/** A client on one connection. Throws if a request has no reply. */
export function createCall(port: number): Call & { close(): void } {
  const connection = openConnection(port);
  const call: Call = async (method, path, authorization, body, headers = {}) => {
    const bytes = requestBytes({
      ...{ method, path },
      headers: [
        ...(authorization ? [['authorization', authorization] as const] : []),
        ...(body === undefined ? [] : [['content-type', 'application/json'] as const]),
        ...Object.entries(headers),
      ],
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const reply = await connection.send(bytes);
    if (typeof reply === 'string') throw new Error(`${method} ${path}: ${reply}`);
    const isJson = reply.headers['content-type']?.includes('json');
    return { status: reply.status, body: isJson ? JSON.parse(reply.body) : reply.body, reply };
  };
  return Object.assign(call, { close: () => connection.close() });
}

/** Returns the body of a reply. Throws for a status of 300 or more. */
export async function expectSuccess(call: Promise<{ status: number; body: Json }>): Promise<Json> {
  const { status, body } = await call;
  if (status >= 300) throw new Error(`the set-up failed: ${status} ${JSON.stringify(body)}`);
  return body;
}

/** An administrator's token, for these platforms or all. */
export async function operatorToken(
  call: Call,
  root: string,
  platformIds?: readonly string[],
): Promise<string> {
  const token = {
    ...{ name: 'Attack', roles: ['administrator'], expiresInDays: 1 },
    ...(platformIds ? { platformIds } : {}),
  };
  const path = `${OPERATOR_BASE}/operator-tokens`;
  return `Bearer ${(await expectSuccess(call('POST', path, root, token))).secret}`;
}

/** Another token of a platform. */
export async function platformToken(call: Call, root: string, platformId: string): Promise<string> {
  const permissions = ['VIEW', 'TRANSACT', 'MANAGE'];
  const path = `${OPERATOR_BASE}/platforms/${encodeURIComponent(platformId)}/tokens`;
  return basicAuthorization(
    await expectSuccess(call('POST', path, root, { name: 'Attack', permissions })),
  );
}

/** A connected agent of a funded customer. */
async function connectAgent(
  call: Call,
  authorization: string,
  customerId: string,
): Promise<string> {
  const policy = {
    permissions: ['VIEW_TRANSACTIONS', 'CREATE_QUOTES', 'EXECUTE_QUOTES', 'CREATE_TRANSFERS'],
    ...{
      defaultExecutionMode: 'AUTO',
      spendingLimits: { currency: 'USD', perTransactionLimit: 10_000_00 },
    },
  };
  const body = { name: 'Attack', customerId, policy };
  const { deviceCode } = await expectSuccess(call('POST', `${BASE}/agents`, authorization, body));
  const path = `${BASE}/agents/device-codes/${deviceCode.code}/redeem`;
  return `Bearer ${(await expectSuccess(call('POST', path, undefined))).accessToken}`;
}

/** Collects the IDs in the lists of a platform. */
async function collectIds(call: Call, tenant: Tenant, paths: readonly string[]) {
  for (const path of paths) {
    const { reply } = await call('GET', path, tenant.authorization);
    tenant.ids.collect(reply.body);
  }
}

/** A platform with resources of many kinds. `mark` is in the names of its customers. */
export async function createTenant(
  call: Call,
  { root, name, mark, lists }: { root: string; name: string; mark: string; lists: string[] },
): Promise<Tenant> {
  const platform = { name, environment: 'sandbox', regulated: true, currencies: ['USD', 'EUR'] };
  const platformReply = await expectSuccess(
    call('POST', `${OPERATOR_BASE}/platforms`, root, platform),
  );
  const id = (platformReply.platformId ?? platformReply.id) as string;
  const authorization = await platformToken(call, root, id);
  const tenant: Tenant = { id, authorization, agent: '', ids: createIds() };
  for (const world of WORLDS) {
    const { reply, status } = await call('POST', `${BASE}/sandbox/fixtures`, authorization, {
      world,
    });
    if (status >= 300)
      throw new Error(`the world ${world} was not created: ${status} ${reply.body}`);
    tenant.ids.collect(reply.body);
  }
  const customer = {
    ...{ customerType: 'INDIVIDUAL', fullName: `${mark} Lovelace`, platformCustomerId: mark },
    ...{ birthDate: '1990-01-15', nationality: 'US', email: `${mark}@example.com` },
  };
  const person = await expectSuccess(call('POST', `${BASE}/customers`, authorization, customer));
  tenant.ids.collect(JSON.stringify(person));
  tenant.agent = await connectAgent(call, authorization, person.id);
  await collectIds(call, tenant, lists);
  return tenant;
}
