// Public interface of the feature providers: management, directory, and connectors that route to providers.

import type { Feature } from '../../runtime/operation/feature.ts';
import {
  Environment,
  NEW_ROUTE,
  PrivateAddressAllowed,
  ProviderFile,
  ProviderId,
  ProviderTerms,
  ProviderUrl,
  PublicKeyPem,
  TRANSFER_FIELDS,
} from './configuration/contract.ts';
import { exportProviders, importProviders } from './configuration/import.ts';
import { type HealthDeps, healthSweep } from './health/auto-pause.ts';
import { balanceSweep } from './health/balances.ts';
import { listHealth } from './health/list.ts';
import { watchProviders } from './health/metrics.ts';
import { recordOutcome } from './health/outcomes.ts';
import { usageSweep } from './health/retention.ts';
import { transferCounter } from './health/transfer-counter.ts';
import { routedIssuer } from './issuer.ts';
import { keyContext } from './keys.ts';
import {
  addProviderKey,
  checkProvider,
  createProvider,
  listProviders,
  pauseProvider,
  providerById,
  recordRates,
  resumeProvider,
  rotateOwnKey,
  setProviderBalance,
  setProviderTerms,
} from './manage.ts';
import {
  createRoute,
  deleteRoute,
  explainRoute,
  explainTransaction,
  listRoutes,
} from './manage-routes.ts';
import { routedRail } from './rail.ts';
import { unusableProviders } from './store.ts';
import { availableBalances, stageClosingBalance } from './usage.ts';

export { PROVIDER_CHOICES } from './choices.ts';
export { openProviderDirectory, type Provider, type ProviderDirectory } from './directory.ts';
export type { BuiltInProvider, ManagerDeps } from './manage.ts';
export { providerOfTransfer } from './rail.ts';
export { providerModes, reportedTransfers, type TransferOfProvider } from './reported.ts';
export { providerOfService } from './services/select.ts';
export { withServices } from './services/services.ts';

/** Connectors that route each transfer or card to its provider. */
export const routedConnectors = { rail: routedRail, issuer: routedIssuer };

/** Operations on providers. `recordRates` applies the message of a provider. */
export const providerManagement = {
  addKey: addProviderKey,
  check: checkProvider,
  create: createProvider,
  export: exportProviders,
  get: providerById,
  health: listHealth,
  import: importProviders,
  list: listProviders,
  pause: pauseProvider,
  recordRates,
  resume: resumeProvider,
  rotateKey: rotateOwnKey,
  setBalance: setProviderBalance,
  setTerms: setProviderTerms,
};

export const routeManagement = {
  create: createRoute,
  delete: deleteRoute,
  explain: explainRoute,
  explainTransaction,
  list: listRoutes,
};

/** Schemas of requests and of the file with providers. */
export const PROVIDER_SCHEMAS = {
  ...{ Environment, NEW_ROUTE, PrivateAddressAllowed, ProviderFile, ProviderId, ProviderTerms },
  ...{ ProviderUrl, PublicKeyPem, TRANSFER_FIELDS },
};

/** Prefunded balances: the available amounts, and the closing balances of statements. */
export const prefunding = { available: availableBalances, stageClosing: stageClosingBalance };

export const transferOutcomes = { record: recordOutcome };

/** Registers the metrics of providers, and finds providers that payments cannot use. */
export const providerMetrics = {
  watch: watchProviders,
  unusable: unusableProviders,
  counter: transferCounter,
};

/** The sweeps and tables of this feature. */
export const providerFeature = {
  sealed: [{ table: 'provider_keys', column: 'private_key', contexts: (id) => [keyContext(id)] }],
  sweeps: (deps: HealthDeps) => [healthSweep(deps), balanceSweep(deps), usageSweep()],
  reset: {
    retained: {
      providers: 'true',
      provider_keys: 'true',
      provider_routes: 'true',
      provider_usage: 'true',
      provider_balances: 'true',
      provider_calls: 'true',
    },
  },
} satisfies Feature<HealthDeps>;
