// Binds the operations of a sign-in. The operator is not identified yet, so neither policies nor
// platforms apply. The feature `staff/users` writes the audit records.
import type { Static, TSchema } from '@sinclair/typebox';
import { type Browser, browserOf } from '../../features/staff/users/index.ts';
import type { Caller } from '../../kernel/caller.ts';
import type { Contract, Input, ReplyHeaders } from '../../kernel/contract/operation.ts';
import type { Runtime } from '../../runtime/operation/operate.ts';
import {
  type HandlerDeps,
  type IdentityProvider,
  type OperatorOperation,
  withoutUnknownQuery,
} from '../handle.ts';

type SignInContract = Extract<Contract, { auth: 'hosted' | 'none' | 'signIn' }>;
type BodyOf<S> = S extends TSchema ? Static<S> : undefined;

interface SignInCall {
  runtime: Runtime;
  browser: Browser;
  identityProvider: IdentityProvider | undefined;
}

const browserIn = (
  { installation: { runtime }, operatorUrl }: HandlerDeps,
  { address, requestId }: Caller,
  headers: Record<string, string | undefined>,
): Browser => {
  const { host, cookie, origin } = headers;
  return browserOf(runtime.effects, operatorUrl, { host, cookie, origin, address, requestId });
};

/** Binds an operation of a sign-in to its function. */
export function signInHandle<C extends SignInContract, S extends keyof C['replies'] & number>(
  declaredContract: C,
  run: (
    call: SignInCall,
    input: Input<C>,
  ) => Promise<{ status: S; body: BodyOf<C['replies'][S]>; headers?: ReplyHeaders }>,
): OperatorOperation {
  const contract = withoutUnknownQuery(declaredContract);
  return {
    contract,
    execute: async () => {
      throw new Error('an approval cannot execute a sign-in operation');
    },
    bind: (handlerDeps) => ({
      contract,
      async run({ caller }, input) {
        // The route passes headers as it received them.
        const headers = input.headers as Record<string, string | undefined>;
        const browser = browserIn(handlerDeps, caller, headers);
        const { installation, identityProvider } = handlerDeps;
        const call = { runtime: installation.runtime, browser, identityProvider };
        // The route has validated the input against this contract.
        const { headers: replyHeaders, ...reply } = await run(call, input as Input<C>);
        const cookies = replyHeaders ?? { 'set-cookie': [...browser.newCookies] };
        return { ...reply, headers: cookies };
      },
    }),
  };
}
