// Administration of platforms by operators.
export { checkCurrencyCodes, createPlatform, type NewPlatform } from './create.ts';
export {
  changeCardProgram,
  changePlatformSettings,
  listPlatforms,
  type PlatformSettings,
  platformSettings,
  removePaymentLimit,
  setPaymentLimit,
} from './settings.ts';
