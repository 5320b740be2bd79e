// What the composition uses of the sandbox.
export { sandboxCardOperations } from './cards.ts';
export { sandboxOperations } from './operations.ts';
export { sandboxSendOperations } from './send.ts';
export { sandboxUmaOperations } from './uma.ts';
