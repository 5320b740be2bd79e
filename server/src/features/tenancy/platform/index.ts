// Platform rows and callers.
export {
  callerOf,
  INSTALLATION,
  newPlatformId,
  platformById,
  readOwnPlatform,
  systemCaller,
} from './callers.ts';
export {
  allPlatforms,
  type CardProgram,
  changePlatform,
  insertPlatform,
  type PasskeySite,
  type PaymentLimit,
  type PlatformChange,
  type PlatformCurrency,
  type PlatformRow,
  pageOfPlatformRows,
  platformBasis,
  platformOfUmaDomain,
  readPlatform,
  requirePlatform,
} from './store.ts';
