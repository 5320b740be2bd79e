// The authorization handler of row 7, in a separate process like a server. An issuer's connector
// calls this handler. The process has a committer and a database but no worker, so the funding
// debits of approvals remain queued. The process also creates delegated keys directly in the
// custodian, because over HTTP a key needs three requests and a session of the owner.
import { gateway } from '../../../server/src/connectors/gateway/index.ts';
import type { CardDecision } from '../../../server/src/connectors/ports/cards.ts';
import { connectorRegistry, custodyKeysOf } from '../../../server/src/connectors/registry.ts';
import {
  activateKey,
  addKey,
} from '../../../server/src/features/cards/delegated-keys/delegated-keys.ts';
import { type CardDeps, cardNetworkHandler } from '../../../server/src/features/cards/index.ts';
import { fundingSources } from '../../../server/src/features/cards/store.ts';
import { dataKeyOf } from '../../../server/src/features/customers/records/index.ts';
import { customers } from '../../../server/src/features/customers/records/store.ts';
import {
  authenticateProvider,
  receiveMessage,
} from '../../../server/src/features/payments/provider-messages/index.ts';
import type { ProviderDirectory } from '../../../server/src/features/providers/index.ts';
import { systemCaller } from '../../../server/src/features/tenancy/platform/index.ts';
import type { SignableRequest } from '../../../server/src/kernel/crypto/http-signatures.ts';
import { createClocks } from '../../../server/src/runtime/clocks/clocks.ts';
import { createCommitter, LANES } from '../../../server/src/runtime/committer/committer.ts';
import { systemEffects } from '../../../server/src/runtime/config/system-effects.ts';
import { openDatabase } from '../../../server/src/runtime/db/database.ts';
import { connectLane } from '../../../server/src/runtime/db/lane.ts';
import type { Ctx } from '../../../server/src/runtime/operation/context.ts';
import { operate, type Runtime } from '../../../server/src/runtime/operation/operate.ts';
import { masterKeyIn } from '../../../server/src/runtime/security/master-key.ts';
import { createVault } from '../../../server/src/runtime/security/vault.ts';
import { type AuthorizationLoad, createAuthorizationLoad } from '../machine/authorization-load.ts';
import { BENCH_PROVIDER, createProvider, decisionOf } from '../machine/provider-message.ts';
import { serveJobs } from '../machine/worker-channel.ts';

export interface AuthorizationOptions {
  url: string;
  /** Folder with the master key of the server that created the cards. */
  dataDir: string;
}

/** Longer than the timeout of a terminal, so that the latency is measured without reversals. */
const WAIT_MS = 30_000;

const effects = systemEffects();
const load = createAuthorizationLoad();

async function start({ url, dataDir }: AuthorizationOptions) {
  const masterKey = masterKeyIn(dataDir, effects);
  const vault = createVault(effects, () => masterKey);
  const db = openDatabase({ url });
  const committer = createCommitter({ connect: () => connectLane(url) });
  const doNothing = () => undefined;
  const clocks = createClocks(db, effects);
  const wake = { events: doNothing, jobs: doNothing };
  const runtime: Runtime = { effects, db, vault, clocks, committer, wake };
  const connectors = connectorRegistry(effects, { custodyKeys: custodyKeysOf(vault) });
  const deps: CardDeps = { connectors, origin: () => '' };
  while (committer.stats().lanes < LANES) await new Promise((resolve) => setTimeout(resolve, 10));
  return {
    runtime,
    deps,
    handler: cardNetworkHandler(runtime, deps, 'sandbox'),
    async stop() {
      await committer.close();
      await db.close();
    },
  };
}

const { provider, signMessage } = createProvider();
const directory = {
  current: () => ({ providers: new Map([[BENCH_PROVIDER, provider]]), routes: [] }),
} as unknown as ProviderDirectory;

/** The steps of the endpoint for messages after the body is read. */
async function receive(
  { runtime, handler }: NonNullable<typeof startedHandler>,
  request: SignableRequest,
): Promise<CardDecision> {
  const deps = {
    ...{
      runtime,
      directory,
      protocol: gateway,
      reportProblem: () => undefined,
      cards: () => handler,
    },
    statements: () => Promise.reject(new Error('this row has no statements')),
    stablecoinOrders: () => Promise.reject(new Error('this row has no stablecoin orders')),
  };
  const sender = await authenticateProvider(deps, BENCH_PROVIDER, request);
  const reply = await receiveMessage(deps, sender, request.body, JSON.parse(request.body));
  return decisionOf(reply.authorization);
}

let startedHandler: Awaited<ReturnType<typeof start>> | undefined;

async function close(): Promise<void> {
  await startedHandler?.stop();
  startedHandler = undefined;
}

/** Stages a delegated key for a card's funding source. */
async function grant(ctx: Ctx, { connectors }: CardDeps, cardId: string): Promise<void> {
  const [source] = await ctx.db.find(fundingSources, { card_id: cardId, ended_at: null });
  const owner = source && (await ctx.read(customers, source.customer_id));
  const key = owner && dataKeyOf(owner);
  const { custody } = connectors('sandbox');
  if (!source || !key || !custody)
    throw new Error(`${cardId} has no funding source, no data key or no custodian`);
  const id = ctx.id('DelegatedKey');
  const delegatedKey = { id, ...(await custody.newSigner({ id })) };
  activateKey(ctx, addKey(ctx, source, delegatedKey, { nickname: 'Bench', key }));
}

interface GrantOptions extends AuthorizationOptions {
  platformId: string;
  cards: readonly string[];
}

/** Creates a delegated key for each card's wallet and closes the database. */
async function grantKeys({ cards, platformId, ...options }: GrantOptions): Promise<void> {
  const { runtime, deps, stop } = await start(options);
  const caller = systemCaller(platformId, 'sandbox');
  await Promise.all(
    cards.map((cardId) => operate(runtime, caller, (ctx) => grant(ctx, deps, cardId))),
  );
  await stop();
}

serveJobs({
  grantKeys,
  async open(options: AuthorizationOptions) {
    startedHandler = await start(options);
  },
  run(options: AuthorizationLoad) {
    const handler = startedHandler;
    if (!handler) throw new Error('the handler is not open. Call `open` first.');
    return load.run(async (request) => {
      if (!options.isSigned) {
        return () => handler.handler.authorize(request, effects.now() + WAIT_MS);
      }
      const message = await signMessage(request);
      return () => receive(handler, message);
    }, options);
  },
  approved: load.approved,
  close,
});
