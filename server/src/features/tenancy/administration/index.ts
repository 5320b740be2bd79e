// What operators do with platforms.
export { checkCurrencyCodes, createPlatform, type NewPlatform, openCurrency } from './create.ts';
export { changeCardProgram, removePaymentLimit, setPaymentLimit } from './limits.ts';
