// A server with a platform whose wallets have to be proven, and short ways to start a proof and answer it.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { customer, ok } from '../app/fixtures.ts';
import { startApp } from '../app/harness.ts';
import { evmWallet } from '../wallets/chain-wallets.ts';

export const OF = {
  customer: '/customers/external-accounts',
  platform: '/platform/external-accounts',
};
type Owner = keyof typeof OF;

/** What the node answers next; it closes the connection where that is nothing. */
type NodeAnswer = { status: number; body: string } | 'nothing';

interface EthCall {
  method: string;
  params: [{ to: string; data: string }, string];
}

/** A node that answers `eth_call` as it is told, and keeps what it was asked. */
async function startNode() {
  const asked: EthCall[] = [];
  let answer: NodeAnswer = 'nothing';
  const server = createServer((request, reply) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      asked.push(JSON.parse(Buffer.concat(chunks).toString()) as EthCall);
      if (answer === 'nothing') request.socket.destroy();
      else reply.writeHead(answer.status).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    says(next: NodeAnswer) {
      answer = next;
    },
    close: () => server.close(),
  };
}

let secret = 1_000n;
/** A key that no other wallet of this run has. */
export const nextSecret = () => ++secret;

/** The status and code of a reply that refuses. */
export const refusalOf = ({ status, body }: { status: number; body: { code?: string } }) => [
  status,
  body.code,
];

export async function startOwnership() {
  const node = await startNode();
  const app = await startApp({ connectors: { rpcUrls: { BASE: node.url } } });
  const as = await app.newPlatform('Travel rule');
  const { body: config } = await app.call('GET', '/config', undefined, { as });
  const supportedCurrencies = config.supportedCurrencies.map((each: { currencyCode: string }) =>
    ['USDC', 'USDT', 'BTC'].includes(each.currencyCode)
      ? { ...each, requiredCounterpartyFields: [{ name: 'FULL_NAME', mandatory: true }] }
      : each,
  );
  ok(await app.call('PATCH', '/config', { supportedCurrencies }, { as }), 200);
  const person = await customer(app, { as });

  const call = (method: string, path: string, body?: unknown, headers = {}) =>
    app.call(method, path, body, { as, headers });

  async function add(
    accountType: string,
    address: string,
    options: { owner?: Owner; more?: object; currency?: string } = {},
  ) {
    const { owner = 'customer', more = {}, currency = 'USDC' } = options;
    const of = owner === 'customer' ? { customerId: person.id } : {};
    const accountInfo = { accountType, address };
    const body = { currency, ownershipType: 'FIRST_PARTY', accountInfo, ...of, ...more };
    return ok(await call('POST', OF[owner], body), 201);
  }

  const challenge = (id: string, method = 'WALLET_SIGNATURE', owner: Owner = 'customer') =>
    call('POST', `${OF[owner]}/${id}/challenge`, { method });

  const get = (id: string, owner: Owner = 'customer') => call('GET', `${OF[owner]}/${id}`);

  return {
    app,
    as,
    node,
    person,
    call,
    add,
    challenge,
    get,
    verify: (id: string, signature: string, more = {}, owner: Owner = 'customer', headers = {}) =>
      call('POST', `${OF[owner]}/${id}/verify`, { signature, ...more }, headers),
    statusOf: async (id: string) => (await get(id)).body.status as string,
    /** A wallet that waits for its proof, with the text to sign. */
    async waiting(owner: Owner = 'customer', accountType = 'ETHEREUM_WALLET') {
      const wallet = evmWallet(nextSecret());
      const { id } = await add(accountType, wallet.address, { owner });
      const { messageToSign, expiresAt } = ok(await challenge(id, undefined, owner), 201);
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
