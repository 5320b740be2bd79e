// Platform configuration and its operations.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { platformOperations } from './operations.ts';

export { brandOf, cardBrandOf, cardProgramNameOf, cardProgramOf } from './brand.ts';
export { BACKFILL_ACCOUNTS, changeConfig, type Provision, resetConfig } from './change.ts';
export { walletConfigOf, walletSenderOf } from './config.ts';
export { FixedFee, testEvent } from './contract.ts';
export { checkAmount, checkDirection, platformFeeOf, settingOf } from './currencies.ts';
export { defaultUmaDomain, openCurrency } from './defaults.ts';

/** Parts that this feature adds to a server. */
export const configFeature = {
  operations: platformOperations,
} satisfies Feature;
