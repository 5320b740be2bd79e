// Test harness for wallet ownership: a server with a platform that requires proof of ownership, and
// requests to start and complete a proof.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createCustomer, ok } from '../app/fixtures.ts';
import { startApp } from '../app/harness.ts';
import { evmWallet } from '../wallets/chain-wallets.ts';

export const OWNER_PATHS = {
  customer: '/customers/external-accounts',
  platform: '/platform/external-accounts',
};
type Owner = keyof typeof OWNER_PATHS;

/** Next response of the node. 'nothing' closes the connection without a response. */
type NodeResponse = { status: number; body: string } | 'nothing';

interface EthCall {
  method: string;
  params: [{ to: string; data: string }, string];
}

/** Node that responds to `eth_call` with a configured response and records the calls. */
async function startNode() {
  const calls: EthCall[] = [];
  let response: NodeResponse = 'nothing';
  const server = createServer((request, reply) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      calls.push(JSON.parse(Buffer.concat(chunks).toString()) as EthCall);
      if (response === 'nothing') request.socket.destroy();
      else reply.writeHead(response.status).end(response.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requested: calls,
    respondWith(next: NodeResponse) {
      response = next;
    },
    close: () => server.close(),
  };
}

let secret = 1_000n;
/** A unique key of a wallet. */
export const nextSecret = () => ++secret;

/** Status and error code of a rejection. */
export const statusAndCode = ({ status, body }: { status: number; body: { code?: string } }) => [
  status,
  body.code,
];

export async function startOwnership() {
  const node = await startNode();
  const app = await startApp({ connectors: { rpcUrls: { BASE: node.url } } });
  const platform = await app.newPlatform('Travel rule');
  const { body: config } = await app.call('GET', '/config', undefined, { platform });
  const supportedCurrencies = config.supportedCurrencies.map(
    (supportedCurrency: { currencyCode: string }) =>
      ['USDC', 'USDT', 'BTC'].includes(supportedCurrency.currencyCode)
        ? {
            ...supportedCurrency,
            requiredCounterpartyFields: [{ name: 'FULL_NAME', mandatory: true }],
          }
        : supportedCurrency,
  );
  ok(await app.call('PATCH', '/config', { supportedCurrencies }, { platform }), 200);
  const person = await createCustomer(app, { platform });

  const call = (method: string, path: string, body?: unknown, headers = {}) =>
    app.call(method, path, body, { platform, headers });

  async function add(
    accountType: string,
    address: string,
    options: { owner?: Owner; fields?: object; currency?: string } = {},
  ) {
    const { owner = 'customer', fields = {}, currency = 'USDC' } = options;
    const ownerFields = owner === 'customer' ? { customerId: person.id } : {};
    const accountInfo = { accountType, address };
    const body = { currency, ownershipType: 'FIRST_PARTY', accountInfo, ...ownerFields, ...fields };
    return ok(await call('POST', OWNER_PATHS[owner], body), 201);
  }

  const requestChallenge = (id: string, method = 'WALLET_SIGNATURE', owner: Owner = 'customer') =>
    call('POST', `${OWNER_PATHS[owner]}/${id}/challenge`, { method });

  const get = (id: string, owner: Owner = 'customer') => call('GET', `${OWNER_PATHS[owner]}/${id}`);

  return {
    app,
    platform,
    node,
    person,
    call,
    add,
    challenge: requestChallenge,
    get,
    verify: (
      id: string,
      signature: string,
      overrides = {},
      owner: Owner = 'customer',
      headers = {},
    ) => call('POST', `${OWNER_PATHS[owner]}/${id}/verify`, { signature, ...overrides }, headers),
    statusOf: async (id: string) => (await get(id)).body.status as string,
    /** Wallet with a pending proof, and the text to sign. */
    async createPendingProof(owner: Owner = 'customer', accountType = 'ETHEREUM_WALLET') {
      const wallet = evmWallet(nextSecret());
      const { id } = await add(accountType, wallet.address, { owner });
      const { messageToSign, expiresAt } = ok(await requestChallenge(id, undefined, owner), 201);
      return { id, wallet, messageToSign, expiresAt } as {
        id: string;
        wallet: typeof wallet;
        messageToSign: string;
        expiresAt: string;
      };
    },
    async close() {
      await app.close();
      node.close();
    },
  };
}
