// The SDK, which is bundled with the program and makes all calls of the API.
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
