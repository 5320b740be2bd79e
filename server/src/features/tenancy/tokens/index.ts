// What other features may know of tokens.
export { type Authenticator, authenticator } from './authenticator.ts';
export { tokenOperations } from './operations.ts';
export { type TokenRow, tokens } from './store.ts';
export { createTokenFor } from './token.ts';
