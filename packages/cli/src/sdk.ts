// The SDK, which the build makes a part of the program. It is the only connection to the API.
export {
  type CallOptions,
  type Client,
  type ClientOptions,
  createClient,
  type EventType,
  type OperationId,
  type Output,
  RailheadError,
} from '../../sdk/src/index.ts';
export { fileStream } from '../../sdk/src/node.ts';
