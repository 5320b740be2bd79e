// How an error code comes about: a sentence for people, and a function that makes a real server answer it.
// The families beside this file list them; `error-codes.test.ts` runs every one, and the page docs/errors.md
// is made from the sentences.
import type { Code } from '../../../src/kernel/fault.ts';
import { type AgentFixture, agentFixture } from '../../kit/agents/agents.ts';
import { type CallOptions, startApp, type TestApp } from '../../kit/app/harness.ts';
import { commandOn } from '../../kit/app/production.ts';
import { type WalletFixture, walletFixture } from '../../kit/wallets/embedded-wallets.ts';

/** What a provocation ends with: the reply that has the code. */
interface Refusal {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: an error's body, of which the code is read.
  body: any;
}

export interface Way {
  code: Code;
  how: string;
  run(fixture: CodeFixture): Promise<Refusal>;
}

export const way = (code: Code, how: string, run: Way['run']): Way => ({ code, how, run });

export interface CodeFixture {
  close: TestApp['close'];
  app: TestApp;
  wallets: WalletFixture;
  agents: AgentFixture;
  call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Refusal>;
  post(path: string, body?: unknown, options?: CallOptions): Promise<Refusal>;
  /** Runs the operator's command. */
  operator: ReturnType<typeof commandOn>;
}

export async function codeFixture(): Promise<CodeFixture> {
  const app = await startApp();
  return {
    app,
    close: app.close,
    wallets: walletFixture(app),
    agents: agentFixture(app),
    call: (...asked) => app.call(...asked),
    post: (path, body = {}, options = {}) => app.call('POST', path, body, options),
    operator: commandOn(app),
  };
}

/** An id of the right form that belongs to nobody. */
export const nobody = (resource: string) => `${resource}:019b0000-0000-7000-8000-000000000000`;
