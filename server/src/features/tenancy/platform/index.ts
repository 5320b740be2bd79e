// What other features may know of platforms.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { platformOperations } from './operations.ts';

export { brandOf, cardBrandOf, cardProgramNameOf } from './brand.ts';
export { walletConfigOf, walletSenderOf } from './config.ts';
export { FixedFee, testEvent } from './contract.ts';
export { checkAmount, checkDirection, settingOf } from './currencies.ts';
export { ownPlatform } from './operations.ts';
export {
  callerOf,
  cardProgramOf,
  checkCurrencyCodes,
  createPlatform,
  type NewPlatform,
  newPlatformId,
  openCurrency,
  platformFeeOf,
  systemCaller,
} from './platform.ts';
export { BACKFILL_ACCOUNTS } from './platform-jobs.ts';
export {
  changeCardProgram,
  platformById,
  removePaymentLimit,
  setPaymentLimit,
} from './settings.ts';
export {
  type CardProgram,
  oldestPlatform,
  type PasskeySite,
  type PaymentLimit,
  type PlatformRow,
  platformOfUmaDomain,
  platforms,
  readPlatform,
  requirePlatform,
} from './store.ts';

/** What this feature adds to a server. */
export const platformFeature = {
  operations: platformOperations,
} satisfies Feature;
