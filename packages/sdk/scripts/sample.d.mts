/** The call of an operation of the API document with the SDK, with its first example. */
export function sdkSample(operation: object): string;
