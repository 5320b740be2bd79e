// Public interface of providers: management, directory, and the rail that routes transfers to them.
import type { Feature } from '../../runtime/operation/feature.ts';

export { PROVIDER_CHOICES } from './choices.ts';
export { openProviderDirectory, type Provider, type ProviderDirectory } from './directory.ts';
export {
  addProviderKey,
  checkProvider,
  createProvider,
  listProviders,
  type ManagerParts,
  pauseProvider,
  providerById,
  resumeProvider,
  rotateOwnKey,
} from './manage.ts';
export { createRoute, deleteRoute, explainRoute, listRoutes } from './manage-routes.ts';
export { providerOfTransfer, routedRail } from './rail.ts';

/** Parts that this feature adds to a server. */
export const providerFeature = {
  reset: {
    retained: { providers: 'true', provider_keys: 'true', provider_routes: 'true' },
  },
} satisfies Feature;
