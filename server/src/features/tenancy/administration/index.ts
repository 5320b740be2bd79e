// Administration of platforms by operators.
export { checkCurrencyCodes, createPlatform, type NewPlatform } from './create.ts';
export {
  BRAND_COLOR,
  CARD_PROGRAM_MAXIMUM,
  checkSettings,
  isFrameOrigin,
  isRegulatedByDefault,
  MAX_HOURLY_PAYMENTS,
  MAX_WALLET_PROCESSING,
  passkeySiteProblem,
  termsProblem,
} from './rules.ts';
export {
  changeCardProgram,
  changePlatformSettings,
  listPlatforms,
  type PlatformSettings,
  pageOfPlatforms,
  platformSettings,
  removePaymentLimit,
  setPaymentLimit,
} from './settings.ts';
