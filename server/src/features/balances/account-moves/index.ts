// The record of what operators do to accounts.
export { movesOf, recordMove } from './store.ts';
