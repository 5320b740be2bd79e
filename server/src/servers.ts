// The HTTP servers of a process: one, or two if the operator API has a separate port. The file also has the
// resources of the process for the operator API, the rails that route to providers, and the address for
// messages of providers.
import type { FastifyInstance } from 'fastify';
import { provisioningBy } from './bootstrap.ts';
import type { Naming } from './catalog/naming.ts';
import { gateway } from './connectors/gateway/index.ts';
import type { Connectors } from './connectors/ports/index.ts';
import type { ConnectorRegistry } from './connectors/registry.ts';
import { type CardDeps, cardNetworkHandler } from './features/cards/index.ts';
import { createFollowers, type Followers } from './features/notifications/events/index.ts';
import {
  authenticateProvider,
  type CardNetwork,
  receiveMessage,
  type StablecoinMessage,
} from './features/payments/provider-messages/index.ts';
import {
  openProviderDirectory,
  type ProviderDirectory,
  providerMetrics,
  routedConnectors,
  withServices,
} from './features/providers/index.ts';
import { receivePage } from './features/reconciliation/index.ts';
import type { SandboxWorldDeps } from './features/sandbox/index.ts';
import { applyReportedOrder } from './features/stablecoins/index.ts';
import { type ChangeFeed, createChangeFeed } from './features/staff/changes/index.ts';
import { signIn } from './features/staff/users/index.ts';
import { accountPorts } from './features.ts';
import type { Limiter } from './http/admission/rate-limit.ts';
import type { Slots } from './http/admission/slots.ts';
import { listenOn } from './http/connection/listen.ts';
import { addProviderMessages } from './http/pages/provider-messages.ts';
import { createServer } from './http/server.ts';
import { MODES, type Mode } from './kernel/mode.ts';
import { tracedConnectors, tracedEffects } from './observability/tracing.ts';
import {
  addOperatorDocument,
  type OperatorApiSetting,
  type OperatorMount,
  operatorOperationsOn,
} from './operator-api/mount.ts';
import { addConsole } from './operator-api/pages/console.ts';
import { addOperatorPages } from './operator-api/pages/pages.ts';
import type { Committer } from './runtime/committer/committer.ts';
import type { IdentityProviderSettings } from './runtime/config/identity-provider.ts';
import { ROLES, type Role } from './runtime/config/roles.ts';
import type { Circuits } from './runtime/jobs/circuits.ts';
import type { Log } from './runtime/observability/log.ts';
import type { Metrics } from './runtime/observability/metrics.ts';
import type { Runtime } from './runtime/operation/operate.ts';

interface ServerSettings {
  databaseUrl: string;
  operatorApi?: OperatorApiSetting | undefined;
  console?: boolean | undefined;
  operatorUrl?: string | undefined;
  publicUrl?: string | undefined;
  operatorOidc?: IdentityProviderSettings | undefined;
}

/** Address at which operators sign in. */
export const operatorUrlOf = ({ operatorUrl, publicUrl }: ServerSettings): string | undefined =>
  operatorUrl ?? publicUrl;

/** Parts of the mount that follow from the settings. */
type SettingsParts = 'databaseUrl' | 'provisioning' | 'operatorUrl' | 'identityProvider';

type ServerOptions = Parameters<typeof createServer>[0];

interface Servers {
  server: FastifyInstance;
  /** Starts to accept requests. Returns the address of the API. */
  listen(address: { host: string; port: number }): Promise<{ port: number; origin: string }>;
}

function singleServer(options: ServerOptions): Servers {
  const server = createServer(options);
  return { server, listen: (address) => listenOn(server, address) };
}

/** Adds the pages for operators, and the console if it is enabled. */
function addPages(server: FastifyInstance, { console: hasConsole = false }: ServerSettings): void {
  addOperatorPages(server, hasConsole);
  if (hasConsole) addConsole(server);
}

/** The server, with the operator API on it or on a separate port, or without the operator API. */
export function serversOf(
  settings: ServerSettings,
  hasApiRole: boolean,
  installation: Omit<OperatorMount, SettingsParts>,
  options: ServerOptions,
): Servers {
  const { operatorApi = 'on', databaseUrl, operatorOidc } = settings;
  if (!hasApiRole) return singleServer({ ...options, operations: [] });
  if (operatorApi === 'off') return singleServer(options);
  const { naming, operations } = options;
  const provisioning = provisioningBy((env) => installation.connectors(env).funding, accountPorts);
  const operatorUrl = operatorUrlOf(settings);
  const identityProvider =
    operatorOidc && signIn.identityProvider(installation.runtime.effects, operatorOidc);
  const mountSettings = { databaseUrl, provisioning, operatorUrl, identityProvider };
  const mount = { ...mountSettings, ...installation };
  const operatorOperations = operatorOperationsOn(mount);
  if (operatorApi === 'on') {
    const combinedServer = singleServer({
      ...options,
      operations: [...operations, ...operatorOperations],
    });
    addOperatorDocument(combinedServer.server, naming);
    addPages(combinedServer.server, settings);
    return combinedServer;
  }
  const { server } = singleServer(options);
  const operatorServer = createServer({ ...options, operations: operatorOperations });
  addOperatorDocument(operatorServer, naming);
  addPages(operatorServer, settings);
  server.addHook('preClose', () => operatorServer.close());
  const listenOnBoth = async (address: Parameters<Servers['listen']>[0]) => {
    await listenOn(operatorServer, { ...address, port: operatorApi });
    return listenOn(server, address);
  };
  return { server, listen: listenOnBoth };
}

export interface OpenRequests {
  followers: Followers;
  changes: ChangeFeed;
  wake(): void;
  close(): void;
}

/** Requests that follow events, of platforms and of operators. */
export function openRequests(runtime: Runtime, log: Log, metrics: Metrics): OpenRequests {
  const followers = createFollowers({ db: runtime.db, log, metrics });
  const changes = createChangeFeed({ runtime, log, metrics });
  const feeds = [followers, changes];
  return {
    followers,
    changes,
    wake: () => feeds.forEach((each) => void each.wake()),
    close: () => feeds.forEach((each) => void each.close()),
  };
}

interface ProcessSettings {
  walletRecoveryMs?: number | undefined;
  process?: { number: number } | undefined;
  roles?: readonly Role[] | undefined;
}

interface OperatorResources {
  circuits: Circuits;
  committer: Committer;
  world: Pick<SandboxWorldDeps, 'operations' | 'perform'>;
  builtIn: ConnectorRegistry;
}

/** Resources of the process that the operator API uses. */
export const operatorDepsOf = (
  { walletRecoveryMs, process, roles = ROLES }: ProcessSettings,
  { changes }: OpenRequests,
  { circuits, committer, world, builtIn }: OperatorResources,
) => ({
  builtIn: builtIn.builtIn,
  walletRecoveryMs,
  changes,
  world,
  process: {
    number: process?.number,
    roles,
    circuits: circuits.states,
    committer: committer.stats,
  },
});

type ConnectorsOf = (environment: Mode) => Connectors;

export interface Providers {
  directory: ProviderDirectory;
  /** The connectors of an environment, with a rail that routes to its providers. */
  connectors: ConnectorsOf;
}

/** Reads the providers. The directory of the providers must be started to follow changes. */
export async function providersOf(
  runtime: Runtime,
  builtIn: ConnectorRegistry,
  circuits: Circuits,
  log: Log,
  metrics: Metrics,
): Promise<Providers> {
  const { db, effects, vault } = runtime;
  const directory = await openProviderDirectory({
    db,
    effects: tracedEffects(effects),
    vault,
    circuits,
    protocol: gateway,
    log,
  });
  providerMetrics.watch({ metrics, directory, db, effects });
  const entries = MODES.map((environment): [Mode, Connectors] => {
    const connectors = builtIn(environment);
    const deps = { runtime: () => runtime, directory, environment };
    const issuer = routedConnectors.issuer({ ...deps, builtIn: connectors.issuer });
    const withProviders = {
      ...connectors,
      rail: routedConnectors.rail({ ...deps, builtIn: connectors.rail }),
      // Depends on the providers, which change while the server runs.
      get issuer() {
        return issuer();
      },
    };
    return [environment, withProviders];
  });
  const connectorsByMode = Object.fromEntries(entries) as Record<Mode, Connectors>;
  const connectors: ConnectorsOf = (environment) =>
    tracedConnectors(withServices(directory, environment, connectorsByMode[environment]));
  return { directory, connectors };
}

interface MessageOptions {
  runtime: Runtime;
  deps: CardDeps;
  directory: ProviderDirectory;
  naming: Naming;
  limiter: Limiter | undefined;
  slots: Slots;
  publicUrl: string | undefined;
  log: Log;
}

/** Adds the address for the messages of providers. */
export function addMessagesOfProviders(server: FastifyInstance, options: MessageOptions): void {
  const { runtime, directory, naming, limiter, slots, publicUrl, log } = options;
  const reportProblem = (problem: string) => log.warn({ problem }, 'a provider has a problem');
  const networks = MODES.map((mode) => [mode, cardNetworkHandler(runtime, options.deps, mode)]);
  const cards: Record<Mode, CardNetwork> = Object.fromEntries(networks);
  const deps = {
    ...{ runtime, directory, protocol: gateway, reportProblem },
    cards: (environment: Mode) => cards[environment],
    statements: (providerId: string, page: Parameters<typeof receivePage>[2]) =>
      receivePage(runtime, providerId, page),
    stablecoinOrders: (providerId: string, { orderId, order }: StablecoinMessage) =>
      applyReportedOrder(runtime, providerId, {
        orderId,
        progressOf: (amount) => gateway.orderProgressOf(order, amount),
        isCompleted: order.state === 'completed',
      }),
  };
  addProviderMessages(server, {
    ...{ naming, limiter, slots, publicUrl, now: runtime.effects.now },
    async authenticate(providerId, request) {
      const provider = await authenticateProvider(deps, providerId, request);
      return (json) => receiveMessage(deps, provider, request.body, json);
    },
    logError: (error) => log.error({ err: error }, 'a message of a provider failed'),
  });
}
