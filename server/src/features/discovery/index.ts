// What the composition lists of the look-ups.
export { discoveryOperations } from './operations.ts';
