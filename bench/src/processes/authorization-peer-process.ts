// The conventional implementation of card authorization, as a peer: one transaction per request on a pool
// of connections. The card, its holder and its account are read for share, and the ledger account is
// locked. The values that `decide` reads therefore remain valid until the commit, and no decision is
// repeated.
import { createHash } from 'node:crypto';
import type pg from 'pg';
import type { CardDecision, CardRequest } from '../../../server/src/connectors/ports/cards.ts';
import { Message } from '../../../server/src/connectors/ports/providers/protocol.ts';
import { connectorRegistry, custodyKeysOf } from '../../../server/src/connectors/registry.ts';
import { type CardDeps, cardOf, decide } from '../../../server/src/features/cards/index.ts';
import { providerMessages } from '../../../server/src/features/payments/provider-messages/store.ts';
import { providerTransfers } from '../../../server/src/features/providers/store.ts';
import { systemCaller } from '../../../server/src/features/tenancy/platform/index.ts';
import { fieldErrors } from '../../../server/src/kernel/contract/validate.ts';
import {
  type SignableRequest,
  verifyRequest,
} from '../../../server/src/kernel/crypto/http-signatures.ts';
import { systemEffects } from '../../../server/src/runtime/config/system-effects.ts';
import { createContext } from '../../../server/src/runtime/operation/context.ts';
import { masterKeyIn } from '../../../server/src/runtime/security/master-key.ts';
import { createVault, type Vault } from '../../../server/src/runtime/security/vault.ts';
import { type AuthorizationLoad, createAuthorizationLoad } from '../machine/authorization-load.ts';
import { BENCH_PROVIDER, createProvider } from '../machine/provider-message.ts';
import { serveJobs } from '../machine/worker-channel.ts';
import type { AuthorizationOptions } from './authorization-process.ts';
import {
  type Locks,
  openPool,
  readerOf,
  writeEvents,
  writeRows,
  writeTransfers,
} from './interactive.ts';

export interface AuthorizationPeerOptions extends AuthorizationOptions {
  poolSize: number;
  platformId: string;
}

const LOCKS: Locks = {
  cards: 'for share',
  customers: 'for share',
  internal_accounts: 'for share',
  delegated_keys: 'for share',
  ledger_accounts: 'for no key update',
};

const effects = systemEffects();
const load = createAuthorizationLoad();

let peer: { pool: pg.Pool; vault: Vault; deps: CardDeps; platformId: string } | undefined;

async function close(): Promise<void> {
  await peer?.pool.end();
  peer = undefined;
}

async function prepare({
  url,
  dataDir,
  poolSize,
  platformId,
}: AuthorizationPeerOptions): Promise<void> {
  await close();
  const masterKey = masterKeyIn(dataDir, effects);
  const vault = createVault(effects, () => masterKey);
  const connectors = connectorRegistry(effects, { custodyKeys: custodyKeysOf(vault) });
  const deps = { connectors, origin: () => '' };
  peer = { pool: openPool(url, poolSize), vault, deps, platformId };
}

const { publicKeys, signMessage } = createProvider();

/** The request of a message, with the IDs of the server. */
const withServerIds = (request: CardRequest): CardRequest => ({
  ...request,
  id: `${BENCH_PROVIDER}/authorization/${request.token}`,
  token: `${BENCH_PROVIDER}/${request.token}`,
});

/** Verifies a message of a provider, and returns its row. */
async function verifyMessage(message: SignableRequest) {
  await verifyRequest(message, publicKeys, effects.now());
  const value = JSON.parse(message.body);
  const errors = fieldErrors(Message, value, 'body');
  if (errors.length > 0) throw new Error(`the message is invalid: ${JSON.stringify(errors)}`);
  return {
    id: `${BENCH_PROVIDER}/${value.id}`,
    provider_id: BENCH_PROVIDER,
    type: 'card.authorization',
    digest: createHash('sha256').update(message.body).digest('hex'),
    result: 'APPLIED',
    created_at: effects.now(),
  } as const;
}

async function authorize(request: CardRequest, message?: SignableRequest): Promise<CardDecision> {
  const storedMessage = message && (await verifyMessage(message));
  if (!peer) throw new Error('the peer is not open. Call `open` first.');
  const { pool, vault, deps, platformId } = peer;
  const client = await pool.connect();
  try {
    await client.query('begin');
    const db = readerOf(client, LOCKS);
    const time = { now: effects.now(), ownClock: false };
    const ctx = createContext({ effects, db, vault }, systemCaller(platformId, 'sandbox'), time);
    if (storedMessage) {
      const existingMessage = await ctx.read(providerMessages, storedMessage.id);
      const issuer = await ctx.read(providerTransfers, request.cardId);
      if (existingMessage || issuer?.provider_id !== BENCH_PROVIDER)
        throw new Error('the message is not new, or the card is not issued by the provider');
      ctx.insert(providerMessages, { ...storedMessage, platform_id: platformId });
    }
    const card = await cardOf(ctx, request.cardId);
    const decision = await decide(ctx, deps, card, request);
    const unlockedRow = ctx.set.requires.find(({ table }) => !LOCKS[table.name]);
    if (unlockedRow) throw new Error(`${unlockedRow.table.name} is required, but not locked`);
    await writeRows(client, ctx.set);
    const balances = await writeTransfers(client, ctx.set.transfers, { areAccountsLocked: true });
    await writeEvents(client, ctx.set.events, balances);
    await client.query('commit');
    return decision;
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}

serveJobs({
  open: prepare,
  run: (options: AuthorizationLoad) =>
    load.run(async (request) => {
      if (!options.isSigned) return () => authorize(request);
      const message = await signMessage(request);
      return () => authorize(withServerIds(request), message);
    }, options),
  approved: load.approved,
  close,
});
