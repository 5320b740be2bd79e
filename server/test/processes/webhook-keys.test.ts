// Rotation of the service's webhook keys under load, with two server processes. A receiver has only
// the published keys, and reads them again only for an unknown key ID. It receives and verifies
// every delivery.
import { createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest';
import { main } from '../../src/operator.ts';
import { databaseUrl, execute } from '../kit/app/database.ts';
import { callOrThrow } from '../kit/crash/load.ts';
import { createDataFolder, type DataFolder, type Running } from '../kit/crash/server.ts';
import { type Received, type Receiver, startReceiver } from '../kit/http/webhook-receiver.ts';

const name = `railhead_keys_${process.pid}`;
const MASTER_KEY = '07'.repeat(32);

let url: string;
let dataFolders: DataFolder[];
let servers: Running[];
let receiver: Receiver;
let accountId: string;

interface ListedKey extends JsonWebKey {
  kid: string;
  alg: string;
  status: string;
}

/** Published keys that the receiver has read, by key ID. */
const publicKeys = new Map<string, KeyObject>();
/** Event ID and key ID of each delivery that the receiver could not verify. */
const unverifiableIds: string[] = [];
/** Key IDs of the verified deliveries, by event ID. */
const verifiedDeliveries = new Map<string, string>();
let listingCount = 0;

async function listKeys(server: Running): Promise<ListedKey[]> {
  const reply = await fetch(`${server.origin}/.well-known/webhook-keys.json?environment=sandbox`);
  return ((await reply.json()) as { keys: ListedKey[] }).keys;
}

/** Reads the keys from both servers alternately. */
async function storeKeys(): Promise<void> {
  const server = servers[listingCount++ % servers.length] as Running;
  for (const key of await listKeys(server)) {
    publicKeys.set(key.kid, createPublicKey({ key, format: 'jwk' }));
  }
}

const isGenuine = ({ headers, body }: Received, key: KeyObject | undefined) =>
  key !== undefined &&
  verify(
    'sha256',
    Buffer.from(body),
    key,
    Buffer.from(headers['x-service-signature'] ?? '', 'base64'),
  );

function hasStandardSignature({ headers, body }: Received): boolean {
  const text = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const keys = [...publicKeys.values()].filter((key) => key.asymmetricKeyType === 'ed25519');
  return (headers['webhook-signature'] ?? '').split(' ').some((entry) => {
    const signature = Buffer.from(entry.slice('v1a,'.length), 'base64');
    return keys.some((key) => verify(null, Buffer.from(text), key, signature));
  });
}

async function receive(receivedWebhook: Received): Promise<boolean> {
  const kid = receivedWebhook.headers['x-service-signature-key-id'] ?? '';
  if (!publicKeys.has(kid)) await storeKeys();
  if (!isGenuine(receivedWebhook, publicKeys.get(kid)) || !hasStandardSignature(receivedWebhook)) {
    unverifiableIds.push(`${receivedWebhook.id} ${kid}`);
    return false;
  }
  verifiedDeliveries.set(receivedWebhook.id, kid);
  return true;
}

async function runOperator(...argv: string[]) {
  let stdout = '';
  let err = '';
  const code = await main([...argv, '--json'], {
    env: { DATABASE_URL: url, RAILHEAD_MASTER_KEY: MASTER_KEY },
    out: (text) => {
      stdout += text;
    },
    err: (text) => {
      err += text;
    },
  });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  return JSON.parse(stdout) as { keyId: string; status: string; algorithm: string }[];
}

beforeAll(async () => {
  const adminUrl = (inject('testServer') as { url: string }).url;
  await execute(adminUrl, `create database ${name}`);
  url = databaseUrl(adminUrl, name);
  dataFolders = [createDataFolder('one'), createDataFolder('two')];
  receiver = await startReceiver((response, receivedWebhook) => {
    receive(receivedWebhook).then((isVerified) => response.writeHead(isVerified ? 200 : 400).end());
  });
  const env = {
    DATABASE_URL: url,
    RAILHEAD_MASTER_KEY: MASTER_KEY,
    RAILHEAD_CLIENT_ID: 'keys',
    RAILHEAD_CLIENT_SECRET: 'know-this',
    RAILHEAD_RATE_LIMIT: '0',
    LOG_LEVEL: 'error',
  };
  servers = await Promise.all(dataFolders.map((folder) => folder.start([], env)));
  const [firstServer] = servers as [Running, Running];
  await callOrThrow(firstServer, 'PATCH', '/config', { webhookEndpoint: receiver.url });
  const { id } = await callOrThrow(firstServer, 'POST', '/customers', {
    customerType: 'INDIVIDUAL',
    fullName: 'Ada Lovelace',
  });
  const query = `customerId=${id}&currency=USD`;
  accountId = (await callOrThrow(firstServer, 'GET', `/customers/internal-accounts?${query}`))
    .data[0].id;
}, 120_000);

afterAll(async () => {
  await Promise.all((dataFolders ?? []).map((folder) => folder.remove()));
  await receiver?.close();
  const adminUrl = (inject('testServer') as { url: string }).url;
  await execute(adminUrl, `drop database if exists ${name} with (force)`);
}, 60_000);

/** Funds the account through both servers until the returned function is called. */
function startLoad() {
  let isStopped = false;
  const fundUntilStopped = async (server: Running) => {
    while (!isStopped) {
      await callOrThrow(server, 'POST', `/sandbox/internal-accounts/${accountId}/fund`, {
        amount: 100,
      });
      await sleep(20);
    }
  };
  const clients = Promise.all(servers.map(fundUntilStopped));
  return async () => {
    isStopped = true;
    await clients;
  };
}

/**
 * Waits until both servers list a key with this status. Returns the waiting time in milliseconds.
 */
async function waitUntilListed(kid: string, status: string): Promise<number> {
  const startedAt = Date.now();
  for (const server of servers) {
    await vi.waitFor(
      async () => {
        const key = (await listKeys(server)).find((key) => key.kid === kid);
        expect(key?.status).toBe(status);
      },
      { timeout: 15_000, interval: 50 },
    );
  }
  return Date.now() - startedAt;
}

async function rotate() {
  const rotation = await runOperator(
    ...['webhooks', 'keys', 'rotate', '--environment', 'sandbox', '--overlap-hours', '0'],
  );
  const keyOf = (status: string) =>
    rotation.find((key) => key.algorithm === 'P-256' && key.status === status)?.keyId as string;
  return { announcedKey: keyOf('announced'), activeKey: keyOf('active') };
}

async function listEventIds(): Promise<string[]> {
  const ids: string[] = [];
  for (let after = 'beginning', hasMore = true; hasMore; ) {
    const page = await callOrThrow(
      servers[0] as Running,
      'GET',
      `/events?limit=100&after=${after}`,
    );
    ids.push(...page.data.map((event: { id: string }) => event.id));
    ({ after, hasMore } = page);
  }
  return ids;
}

it('two rotations under load cause no unverifiable or lost delivery', async () => {
  const stopLoad = startLoad();
  const listingTimesMs: number[] = [];
  for (let index = 0; index < 2; index++) {
    const { announcedKey, activeKey } = await rotate();
    listingTimesMs.push(await waitUntilListed(announcedKey, 'ANNOUNCED'));
    await waitUntilListed(announcedKey, 'ACTIVE');
    await sleep(1_500);
    await runOperator('webhooks', 'keys', 'retire', activeKey);
  }
  await stopLoad();
  // Both servers list at least one key within two seconds, and under load each key within five.
  expect(Math.min(...listingTimesMs)).toBeLessThan(2_000);
  expect(Math.max(...listingTimesMs)).toBeLessThan(5_000);

  await vi.waitFor(
    async () =>
      expect([...verifiedDeliveries.keys()].sort()).toEqual((await listEventIds()).sort()),
    {
      timeout: 20_000,
      interval: 250,
    },
  );
  expect(unverifiableIds).toEqual([]);
  expect(new Set(verifiedDeliveries.values()).size).toBe(3);
  expect(verifiedDeliveries.size).toBeGreaterThan(50);
}, 120_000);

it('a rotation updates every copy of the public key', async () => {
  const keys = await runOperator('webhooks', 'keys', 'list');
  const allKeys = keys as unknown as {
    environment: string;
    publicKeyPem: string;
    algorithm: string;
    status: string;
  }[];
  const activeKey = allKeys.find(
    (key) => key.environment === 'sandbox' && key.algorithm === 'P-256' && key.status === 'active',
  );
  for (const { dir } of dataFolders) {
    const text = readFileSync(path.join(dir, 'credentials.json'), 'utf8');
    const { webhookPublicKey } = JSON.parse(text) as { webhookPublicKey: string };
    expect(webhookPublicKey).toBe(activeKey?.publicKeyPem);
  }
});
