// Public interface of providers: management, directory, and the connectors that route to them.
import type { Feature } from '../../runtime/operation/feature.ts';
import { routedIssuer } from './issuer.ts';
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
} from './manage.ts';
import { routedRail } from './rail.ts';

export { PROVIDER_CHOICES } from './choices.ts';
export { openProviderDirectory, type Provider, type ProviderDirectory } from './directory.ts';
export type { ManagerParts } from './manage.ts';
export { createRoute, deleteRoute, explainRoute, listRoutes } from './manage-routes.ts';
export { providerOfTransfer } from './rail.ts';
export { providerModes, reportedTransfers, type TransferOfProvider } from './reported.ts';
export { providerOfService, withServices } from './services.ts';

/** Connectors that send each transfer or card to its provider. */
export const routed = { rail: routedRail, issuer: routedIssuer };

/** What operators do with providers, and what providers report about themselves. */
export const providerManagement = {
  addKey: addProviderKey,
  check: checkProvider,
  create: createProvider,
  get: providerById,
  list: listProviders,
  pause: pauseProvider,
  recordRates,
  resume: resumeProvider,
  rotateKey: rotateOwnKey,
};

/** Parts that this feature adds to a server. */
export const providerFeature = {
  reset: {
    retained: { providers: 'true', provider_keys: 'true', provider_routes: 'true' },
  },
} satisfies Feature;
