// The SDK, from this checkout. In your own project: `export * from 'railhead-sdk/wallets'`.
export * from '../../../packages/sdk/src/wallets/index.ts';
