// Entry of the SDK for all runtimes with `fetch`: Node.js, browsers, Deno and Bun.
export { type Client, createClient, type FollowedEvents } from './client.ts';
export {
  type ErrorDetails,
  type FieldError as InvalidField,
  isRailheadError,
  RailheadError,
} from './error.ts';
export type { EventType, StoredEvent, WebhookEvent } from './events.ts';
export type { CursorStore, EventStream, FollowOptions } from './follow.ts';
export type * from './generated/aliases.ts';
export type * from './generated/groups.ts';
export type {
  ClientOptions,
  Hooks,
  RequestInfo,
  ResponseInfo,
  RetryInfo,
} from './http/settings.ts';
export type { ByteStream, FileContent, FileInput } from './http/upload.ts';
export type {
  Call,
  CallOptions,
  ClientErrorCode,
  ErrorCode,
  Input,
  Item,
  ListCall,
  Method,
  OperationId,
  Output,
  Reply,
} from './types.ts';
