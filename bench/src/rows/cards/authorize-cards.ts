// Cards for row 7, created over HTTP on a server with a separate database. Cardholders have a card on a
// USD account, and some have another card on their wallet, with a delegated key. The peer uses a copy of
// the database. The server has exited before the measurement.
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  FUNDS,
  mapConcurrently,
  personBody,
  type Request,
  requester,
  startServer,
} from '../../machine/api.ts';
import type { Bench } from '../../machine/bench.ts';
import type { Worker } from '../../machine/children.ts';
import { BENCH_PROVIDER } from '../../machine/provider-message.ts';

export const CARDS_DATABASE = 'bench_cards';
export const PEER_CARDS_DATABASE = 'bench_cards_peer';

export interface Cards {
  platformId: string;
  /** Folder of the master key, which both sides need. */
  dataDir: string;
  /** IDs of cards on USD accounts, one account each. */
  accountCards: string[];
  /** IDs of cards on embedded wallets. */
  walletCards: string[];
}

interface Account {
  id: string;
  type: string;
}

const FULL_SIZES = { holders: 2_000, wallets: 500 };
const QUICK_SIZES = { holders: 200, wallets: 50 };
const POLL_MS = 200;
const ISSUE_MS = 120_000;

async function accountOf(request: Request, customerId: string, currency: string, type: string) {
  const path = `/customers/internal-accounts?customerId=${customerId}&currency=${currency}`;
  const { data } = await request<{ data: Account[] }>('GET', path);
  return data.find((account) => account.type === type) as Account;
}

/** Funds an account and creates a card on it. Returns the ID of the card. */
async function createCard(request: Request, customerId: string, account: Account, name: string) {
  await request('POST', `/sandbox/internal-accounts/${account.id}/fund`, { amount: FUNDS });
  const { id } = await request<{ id: string }>('POST', '/cards', {
    cardholderId: customerId,
    platformCardId: `bench-${name}-000`,
    form: 'VIRTUAL',
    fundingSources: [account.id],
  });
  return id;
}

/**
 * Creates a customer with a card on its USD account, and another on its wallet if `hasWalletCard`.
 * Returns the IDs of the cards.
 */
export async function createHolder(request: Request, index: number, hasWalletCard: boolean) {
  const body = { ...personBody(index, ['USD', 'USDB']), email: `bench-${index}@example.com` };
  const { id } = await request<{ id: string }>('POST', '/customers', body);
  const dollarAccount = await accountOf(request, id, 'USD', 'INTERNAL_FIAT');
  const accountCard = await createCard(request, id, dollarAccount, `${index}`);
  if (!hasWalletCard) return { accountCard };
  const wallet = await accountOf(request, id, 'USDB', 'EMBEDDED_WALLET');
  return { accountCard, walletCard: await createCard(request, id, wallet, `${index}-wallet`) };
}

/** The provider of the bench issues all cards. */
export const ISSUED_BY_PROVIDER = `insert into provider_transfers
    (id, platform_id, provider_id, created_at)
  select id, platform_id, '${BENCH_PROVIDER}', created_at from cards`;

/** Waits until the issuer has issued all cards. */
export async function waitForCards(
  { cluster }: Pick<Bench, 'cluster'>,
  database = CARDS_DATABASE,
): Promise<void> {
  const openCardsSql = "select count(*)::int as n from cards where state = 'PROCESSING'";
  for (const until = Date.now() + ISSUE_MS; Date.now() < until; await sleep(POLL_MS)) {
    const [row] = await cluster.rows<{ n: number }>(database, openCardsSql);
    if (row?.n === 0) return;
  }
  throw new Error(`the cards were not issued within ${ISSUE_MS} ms`);
}

/** Creates the cards and both databases. `handler` creates the delegated keys of the wallets. */
export async function createCards(bench: Bench, handler: Worker): Promise<Cards> {
  const { cluster, scratch, quick } = bench;
  const url = await cluster.create(CARDS_DATABASE);
  const dataDir = path.join(scratch, 'cards');
  const args = ['--database-url', url, '--data-dir', dataDir];
  const server = await startServer(bench, args, { log: path.join(scratch, 'cards.log') });
  const request = requester(server.port);
  const { holders, wallets: walletCount } = quick ? QUICK_SIZES : FULL_SIZES;
  const createdHolders = await mapConcurrently(Array.from({ length: holders }), (_, index) =>
    createHolder(request, index, index < walletCount),
  );
  await waitForCards(bench);
  await server.process.stop();
  const [row] = await cluster.rows<{ platform_id: string }>(
    CARDS_DATABASE,
    'select platform_id from cards limit 1',
  );
  const platformId = row?.platform_id as string;
  const accountCards = createdHolders.map(({ accountCard }) => accountCard);
  const walletCards = createdHolders.flatMap(({ walletCard }) => walletCard ?? []);
  await handler.call('grantKeys', { url, dataDir, platformId, cards: walletCards });
  // The provider of row 7d issues the cards. Only its messages use these rows.
  await cluster.rows(CARDS_DATABASE, ISSUED_BY_PROVIDER);
  await cluster.copy(CARDS_DATABASE, PEER_CARDS_DATABASE);
  for (const name of [CARDS_DATABASE, PEER_CARDS_DATABASE]) {
    await cluster.rows(name, 'vacuum analyze');
  }
  return { platformId, dataDir, accountCards, walletCards };
}
