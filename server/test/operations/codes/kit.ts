// Types and helpers for provoking error codes. Each code has a description, and a function that
// provokes it on a real server. The lists in this folder contain all codes. `error-codes.test.ts`
// runs each one, and docs/errors.md is generated from the descriptions.
import type { Code } from '../../../src/kernel/fault.ts';
import { type AgentFixture, agentFixture } from '../../kit/agents/agents.ts';
import {
  type ApiResponse,
  type CallOptions,
  startApp,
  type TestApp,
} from '../../kit/app/harness.ts';
import { commandRunner } from '../../kit/app/production.ts';
import { type WalletFixture, walletFixture } from '../../kit/wallets/embedded-wallets.ts';

/** A reply. The reply of `Provocation.run` has the error code. */
type Reply = Pick<ApiResponse, 'status' | 'body'>;

export interface Provocation {
  code: Code;
  description: string;
  run(fixture: CodeFixture): Promise<Reply>;
}

export const provocation = (
  code: Code,
  description: string,
  run: Provocation['run'],
): Provocation => ({
  code,
  description,
  run,
});

export interface CodeFixture {
  close: TestApp['close'];
  app: TestApp;
  wallets: WalletFixture;
  agents: AgentFixture;
  call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Reply>;
  post(path: string, body?: unknown, options?: CallOptions): Promise<Reply>;
  runCommand: ReturnType<typeof commandRunner>;
}

export const codeFixture = async (): Promise<CodeFixture> => codeFixtureOf(await startApp());

export function codeFixtureOf(app: TestApp): CodeFixture {
  return {
    app,
    close: app.close,
    wallets: walletFixture(app),
    agents: agentFixture(app),
    call: (...args) => app.call(...args),
    post: (path, body = {}, options = {}) => app.call('POST', path, body, options),
    runCommand: commandRunner(app),
  };
}

/** A well-formed ID of no resource. */
export const unknownId = (resource: string) => `${resource}:019b0000-0000-7000-8000-000000000000`;
