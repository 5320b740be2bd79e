// Checks of the packed package in every runtime, with a real server: calls, lists, errors, uploads,
// events, webhooks and wallets. Prints a line for each check. Throws at the first failure.
import assert from 'node:assert/strict';
import path from 'node:path';

const PASSPORT = {
  documentType: 'PASSPORT',
  country: 'US',
  documentNumber: '340020013',
  issuingAuthority: 'U.S. Department of State',
};
/** The smallest file that has the type of a PDF. */
const PDF = new TextEncoder().encode('%PDF-1.4\n%%EOF\n');

const base64 = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)));

async function signedByEd25519(body) {
  const keys = await crypto.subtle.generateKey('Ed25519', true, ['sign', 'verify']);
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signedContent = new TextEncoder().encode(`msg_1.${timestamp}.${body}`);
  const signature = base64(await crypto.subtle.sign('Ed25519', keys.privateKey, signedContent));
  return {
    key: `whpk_${base64(await crypto.subtle.exportKey('raw', keys.publicKey))}`,
    headers: {
      'webhook-id': 'msg_1',
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1a,${signature}`,
    },
  };
}

const checks = {
  async calls({ client }) {
    const body = { customerType: 'INDIVIDUAL', fullName: 'Ada Lovelace' };
    const reply = await client.customers.createCustomer(body).withResponse();
    assert.equal(reply.status, 201);
    assert.ok(reply.requestId && reply.headers.get('content-type'));
    await client.customers.createCustomer({ ...body, fullName: 'Grace Hopper' });
  },

  async lists({ client }) {
    const names = [];
    for await (const customer of client.customers.listCustomers({ limit: 1 }))
      names.push(customer.fullName);
    assert.ok(names.includes('Ada Lovelace') && names.includes('Grace Hopper'));
  },

  async errors({ client, sdk }) {
    const quoteId = 'Quote:019b8d60-2a80-7000-8000-00000000ffff';
    const error = await client.quotes.getQuoteById({ quoteId }).catch((reason) => reason);
    assert.ok(sdk.isRailheadError(error, 'getQuoteById') && error instanceof sdk.RailheadError);
    assert.deepEqual([error.status, error.code], [404, 'QUOTE_NOT_FOUND']);
    const reason = new Error('the user closed the page');
    const abortedCall = client.config.getPlatformConfig({}, { signal: AbortSignal.abort(reason) });
    assert.equal(await abortedCall.catch((thrown) => thrown), reason);
    const unreachableClient = sdk.createClient({ baseUrl: 'http://127.0.0.1:9', maxRetries: 0 });
    const connectionError = await unreachableClient.customers
      .listCustomers()
      .catch((thrown) => thrown);
    assert.equal(connectionError.code, 'CONNECTION_FAILED');
  },

  async uploads({ client, node, folder }) {
    const person = { customerType: 'INDIVIDUAL', fullName: 'Alan Turing' };
    const { writeFile } = await import('node:fs/promises');
    const file = path.join(folder, 'passport.pdf');
    await writeFile(file, PDF);
    const blob = new Blob([PDF], { type: 'application/pdf' });
    for (const content of [node.fileStream(file, 'application/pdf'), { content: blob }]) {
      const { id: documentHolder } = await client.customers.createCustomer(person);
      const fields = { documentHolder, ...PASSPORT, file: content };
      const document = await client.documents.uploadDocument(fields);
      assert.equal(document.documentHolder, documentHolder);
    }
  },

  async events({ client, node, folder }) {
    const store = node.fileStore(path.join(folder, 'cursor'));
    const follow = () =>
      client.events.follow({ store, after: 'beginning', types: ['CUSTOMER.KYC_APPROVED'] });
    for (let round = 0; round < 2; round++) {
      for await (const event of follow()) {
        assert.equal(event.type, 'CUSTOMER.KYC_APPROVED');
        break;
      }
    }
    assert.match(await store.load(), /\w/);
  },

  async webhooks({ client, webhooks }) {
    const endpoint = await client.webhookEndpoints.createWebhookEndpoint({ delivery: 'PULL' });
    const person = { customerType: 'INDIVIDUAL', fullName: 'Edsger Dijkstra' };
    const { id } = await client.customers.createCustomer(person);
    const pullInput = { endpointId: endpoint.id, wait: 10 };
    const { data } = await client.webhookEndpoints.pullWebhookDeliveries(pullInput);
    const { headers, body } = data[0];
    for (const key of [endpoint.secret, process.env.WEBHOOK_PUBLIC_KEY]) {
      const event = await webhooks.verify({ headers, body, keys: key });
      assert.equal(event.data.id, id);
      const changedVerification = webhooks.verify({ headers, body: `${body} `, keys: key });
      assert.equal((await changedVerification.catch((thrown) => thrown)).code, 'WEBHOOK_INVALID');
    }
    await client.webhookEndpoints.deleteWebhookEndpointById({ endpointId: endpoint.id });
    const { key, headers: signedHeaders } = await signedByEd25519('{"type":"TEST"}');
    const event = await webhooks.verify({
      headers: signedHeaders,
      body: '{"type":"TEST"}',
      keys: key,
    });
    assert.equal(event.type, 'TEST');
  },

  async wallets({ wallets }) {
    const keys = await wallets.generateKeys();
    assert.match(keys.publicKey, /^0[234][0-9a-f]+$/);
    assert.ok((await wallets.stamp(keys, 'text')).length > 100);
  },
};

/**
 * Runs all checks in an empty `folder`. The environment has the address and the credentials of the
 * server.
 */
export async function check(entries, folder) {
  const client = entries.sdk.createClient();
  for (const [name, run] of Object.entries(checks)) {
    await run({ ...entries, client, folder });
    console.log(name);
  }
}
