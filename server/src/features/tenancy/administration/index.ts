// What operators do with platforms.
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
