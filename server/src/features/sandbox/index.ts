// What the composition uses of the sandbox.
export { sandboxOperations } from './operations.ts';
