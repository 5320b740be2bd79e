// What other features may use: the rate between two currencies (`midRate`), and the fee on money that leaves
// over a network (`serviceFeeOver`).
export { serviceFeeOver } from './network-fee.ts';
export { discoveryOperations } from './operations.ts';
export { midRate } from './rates.ts';
