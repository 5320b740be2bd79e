// Options of a client, with their defaults.
import { clientError } from '../error.ts';
import type { OperationId } from '../types.ts';

/** An attempt of a call. `headers` are the headers of the request without its credential. */
export interface RequestInfo {
  readonly operationId: OperationId;
  readonly method: string;
  readonly url: string;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** A hook may change these headers, for example to add a trace context. */
  readonly headers: Record<string, string>;
}

/** The reply to an attempt. */
export interface ResponseInfo extends RequestInfo {
  readonly status: number;
  readonly requestId: string | undefined;
  readonly durationMs: number;
}

/** A failed attempt that is repeated after `delayMs`. */
export interface RetryInfo {
  readonly operationId: OperationId;
  /** Number of the attempt that failed, from 1. */
  readonly attempt: number;
  readonly delayMs: number;
  /** HTTP status of the reply. Undefined without a reply. */
  readonly status: number | undefined;
  readonly code: string;
}

/** Functions that observe requests. An error that they throw rejects the call. */
export interface Hooks {
  readonly onRequest?: (info: RequestInfo) => void;
  readonly onResponse?: (info: ResponseInfo) => void;
  readonly onRetry?: (info: RetryInfo) => void;
}

/** Options of a client. Address and credentials default to environment variables. */
export interface ClientOptions extends Hooks {
  /** Base URL of the API, such as `http://localhost:4000/2025-10-13`. Default: RAILHEAD_URL. */
  readonly baseUrl?: string;
  /** Client ID of an API token. Default: RAILHEAD_CLIENT_ID. */
  readonly clientId?: string;
  /** Secret of the API token. Default: RAILHEAD_CLIENT_SECRET. Do not use a secret in a browser. */
  readonly clientSecret?: string;
  /** Access token of an agent, for the operations of `agentOperations`. Default: RAILHEAD_AGENT_TOKEN. */
  readonly agentToken?: string;
  /** Timeout of each attempt, in milliseconds. Default: 30 000. */
  readonly timeout?: number;
  /** Timeout of a call with its retries, in milliseconds. Default: 120 000. */
  readonly deadline?: number;
  /** Maximum number of retries. Default: 2. */
  readonly maxRetries?: number;
  /** Headers that are added to every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Replaces the global `fetch`, for example to use a proxy. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /**
   * Writes a line for each reply and for each retry, without headers, bodies and queries. `true`:
   * to the console.
   */
  readonly debug?: boolean | ((line: string) => void);
  /**
   * Prefix of the header for wallet signatures, as in `RAILHEAD_SERVICE_WORD` of the server.
   * Default: `Service`.
   */
  readonly serviceWord?: string;
}

export interface Settings {
  readonly baseUrl: string;
  readonly authorization: Readonly<Record<'token' | 'agent', string | undefined>>;
  readonly timeout: number;
  readonly deadline: number;
  readonly maxRetries: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly log: ((line: string) => void) | undefined;
  readonly signatureHeader: string;
  readonly hooks: Hooks;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_DEADLINE_MS = 120_000;
const DEFAULT_RETRIES = 2;

function environmentVariable(name: string): string | undefined {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name] || undefined;
}

/** Base64 of UTF-8. `btoa` encodes one byte per character. */
const base64 = (text: string) =>
  btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));

export function settingsOf(options: ClientOptions): Settings {
  const baseUrl = (options.baseUrl ?? environmentVariable('RAILHEAD_URL'))?.replace(/\/+$/, '');
  if (!baseUrl) {
    throw clientError(
      'INVALID_CLIENT_INPUT',
      'No server is configured. Set `baseUrl` or RAILHEAD_URL.',
    );
  }
  const clientId = options.clientId ?? environmentVariable('RAILHEAD_CLIENT_ID');
  const clientSecret = options.clientSecret ?? environmentVariable('RAILHEAD_CLIENT_SECRET');
  const agentToken = options.agentToken ?? environmentVariable('RAILHEAD_AGENT_TOKEN');
  const { debug } = options;
  return {
    baseUrl,
    authorization: {
      token:
        clientId && clientSecret ? `Basic ${base64(`${clientId}:${clientSecret}`)}` : undefined,
      agent: agentToken ? `Bearer ${agentToken}` : undefined,
    },
    timeout: options.timeout ?? DEFAULT_TIMEOUT_MS,
    deadline: options.deadline ?? DEFAULT_DEADLINE_MS,
    maxRetries: options.maxRetries ?? DEFAULT_RETRIES,
    headers: options.headers ?? {},
    // The global `fetch` is read for each request, so that a later replacement by instrumentation is
    // used.
    fetch: options.fetch ?? ((url, init) => globalThis.fetch(url, init)),
    log: typeof debug === 'function' ? debug : debug ? (line) => console.debug(line) : undefined,
    signatureHeader: `${options.serviceWord ?? 'Service'}-Wallet-Signature`,
    hooks: options,
  };
}
