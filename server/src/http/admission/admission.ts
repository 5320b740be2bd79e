// Admits or rejects a request by its head. Checks the limit of the address, credential, rate
// limits, permission, size of the body and bytes per second, in this order. The body is read
// afterwards, so a rejected request costs no more than its head.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller, Operator } from '../../kernel/caller.ts';
import { type Contract, maxBodyOf } from '../../kernel/contract/operation.ts';
import { type Code, Fault, invalid } from '../../kernel/fault.ts';
import { tooLargeFault } from '../body/body.ts';
import { MAX_OVERHEAD } from '../body/multipart.ts';
import { type Limiter, type LimitOwner, networkOf } from './rate-limit.ts';
import { createRejectionDelay } from './rejection-delay.ts';

/** Resolves the secret of a link. */
export interface LinkBearers {
  /** Throws LINK_ENDED for an expired or replaced link. */
  callerOf(secret: string): Promise<Caller>;
  /** Whether this secret was valid before. */
  wasValid(secret: string): boolean;
}

/** Resolves the bearer token of an agent. */
interface AgentBearers {
  /** The caller of a request from its Authorization header. Throws UNAUTHORIZED. */
  callerOf(authorization: string | undefined): Promise<Caller>;
  /** Whether this header was valid before. */
  wasValid(authorization: string | undefined): boolean;
}

/** Parts of a request that identify an operator. */
interface OperatorCredential {
  authorization: string | undefined;
  cookie: string | undefined;
  /** Value of the CSRF header. Required with a cookie and a method other than GET. */
  csrfToken: string | undefined;
  host: string | undefined;
  origin: string | undefined;
  isRead: boolean;
}

/** Resolves the token or the session of an operator. */
interface Operators {
  /** Throws UNAUTHORIZED, and FORBIDDEN without the session's CSRF token or from another site. */
  operatorOf(credential: OperatorCredential): Promise<Operator>;
}

export interface AdmissionOptions {
  /** The caller of a request from its Authorization header. Throws UNAUTHORIZED. */
  authenticate(authorization: string | undefined): Promise<Caller>;
  /**
   * Whether this header was valid before. A valid header is exempt from the limit of its address.
   */
  wasValid?(authorization: string | undefined): boolean;
  /** Required if there are hosted operations. */
  bearers?: LinkBearers;
  /** Required if there are operations for agents. */
  agents?: AgentBearers;
  /** Required if there are operations for operators. */
  operators?: Operators | undefined;
  /** Absent: no limits. */
  limiter?: Limiter | undefined;
}

interface Credential {
  /** Whether the credential was valid before. */
  wasValid(): boolean;
  caller(): Promise<Caller>;
}

const operatorCredentialOf = (
  { headers }: FastifyRequest,
  { method }: Contract,
): OperatorCredential => {
  const csrfToken = headers[CSRF_HEADER];
  return {
    authorization: headers.authorization,
    cookie: headers.cookie,
    csrfToken: typeof csrfToken === 'string' ? csrfToken : undefined,
    host: headers.host,
    origin: headers.origin,
    isRead: method === 'GET',
  };
};

function credentialOf(
  options: AdmissionOptions,
  request: FastifyRequest,
  contract: Contract,
): Credential {
  const { auth } = contract;
  const { bearers, agents, operators } = options;
  if (auth === 'hosted' && bearers) {
    const { secret } = request.params as { secret: string };
    return { wasValid: () => bearers.wasValid(secret), caller: () => bearers.callerOf(secret) };
  }
  const { authorization } = request.headers;
  if (auth === 'agent' && agents) {
    return {
      wasValid: () => agents.wasValid(authorization),
      caller: () => agents.callerOf(authorization),
    };
  }
  if (auth === 'operator' && operators) {
    return {
      wasValid: () => false,
      caller: async () =>
        operatorCaller(
          await operators.operatorOf(operatorCredentialOf(request, contract)),
          request,
        ),
    };
  }
  return {
    wasValid: () => options.wasValid?.(authorization) ?? false,
    caller: () => options.authenticate(authorization),
  };
}

const CSRF_HEADER = 'x-csrf-token';

const REJECTED_CREDENTIAL_CODES: readonly Code[] = ['UNAUTHORIZED', 'LINK_ENDED'];

/** The caller of an operation that needs no credential. */
export const anonymousAt = (ip: string): Caller => ({
  platformId: '',
  environment: 'sandbox',
  tokenId: null,
  permissions: [],
  address: networkOf(ip),
});

/** The caller of a request of an operator. The request belongs to no platform. */
const operatorCaller = (operator: Operator, { id, ip }: FastifyRequest): Caller => ({
  platformId: '',
  environment: 'production',
  tokenId: operator.id,
  permissions: [],
  operator: { ...operator, address: ip, requestId: id },
});

/**
 * Whether an operator has the permission of the contract, and access to all platforms if the
 * contract requires `wholeInstallation`.
 */
export function mayUse(
  { operatorPermission, wholeInstallation }: Contract,
  { permissions, platformIds }: Operator,
): boolean {
  const isPermitted = operatorPermission === undefined || permissions.includes(operatorPermission);
  return isPermitted && (!wholeInstallation || platformIds === null);
}

/** Throws FORBIDDEN unless the operator may use the operation. */
export function assertOperatorPermission(contract: Contract, operator: Operator): void {
  if (mayUse(contract, operator)) return;
  const { operatorPermission } = contract;
  if (operatorPermission && !operator.permissions.includes(operatorPermission)) {
    throw new Fault('FORBIDDEN', `The roles do not include the permission ${operatorPermission}.`);
  }
  throw new Fault('FORBIDDEN', 'This operation requires access to all platforms.');
}

function assertPermission(contract: Contract, caller: Caller): void {
  if (caller.operator) assertOperatorPermission(contract, caller.operator);
  if (contract.sandboxOnly && caller.environment !== 'sandbox') {
    throw new Fault('FORBIDDEN', 'This operation is available with sandbox credentials only.');
  }
  if (contract.permission && !caller.permissions.includes(contract.permission)) {
    throw new Fault('FORBIDDEN', `The token does not have the ${contract.permission} permission.`);
  }
}

const limitOwnerOf = (
  { auth }: Contract,
  { platformId, agentId, tokenId, operator }: Caller,
): LimitOwner => ({
  platformId: operator?.id ?? platformId,
  share: agentId ?? (auth === 'hosted' ? (tokenId ?? undefined) : undefined),
});

/** Key of the byte limit: the operator, the platform, or the network of an anonymous caller. */
export const bytesKeyOf = ({ platformId, operator, address }: Caller): string =>
  (operator?.id ?? platformId) || `${address}`;

/** Checks the `Content-Length` and counts it. Bytes of an upload are counted as they arrive. */
function checkLength(contract: Contract, caller: Caller, length: number, limiter?: Limiter): void {
  const { upload } = contract;
  if (upload) {
    if (length <= upload.maxBytes + MAX_OVERHEAD) return;
    throw invalid([{ field: 'file', message: `must not be larger than ${upload.maxBytes} bytes` }]);
  }
  const maxBytes = maxBodyOf(contract);
  if (length > maxBytes) throw tooLargeFault(maxBytes);
  if (length > 0) limiter?.takeBytes(bytesKeyOf(caller), length);
}

export function createAdmission(options: AdmissionOptions) {
  const { limiter } = options;
  const delay = createRejectionDelay();

  async function callerOf(
    contract: Contract,
    request: FastifyRequest,
    reply: FastifyReply,
    onCaller: (caller: Caller) => void,
  ): Promise<Caller> {
    const { ip } = request;
    if (contract.auth === 'none' || contract.auth === 'signIn') {
      limiter?.checkAnonymous(ip);
      const caller = { ...anonymousAt(ip), requestId: request.id };
      onCaller(caller);
      return caller;
    }
    const credential = credentialOf(options, request, contract);
    limiter?.checkAddress(ip, credential.wasValid);
    const caller = await credential.caller().catch((error: unknown) => {
      if (error instanceof Fault && REJECTED_CREDENTIAL_CODES.includes(error.code))
        limiter?.countRejection(ip);
      throw error;
    });
    onCaller(caller);
    limiter?.checkRequest(reply, limitOwnerOf(contract, caller), contract.rateClass === 'quotes');
    return caller;
  }

  return {
    /**
     * Checks the admission of a request to an operation. Throws the fault of a rejected request,
     * delayed if this client has many rejections. `onCaller` is called as soon as the caller is
     * authenticated.
     */
    async check(
      contract: Contract,
      request: FastifyRequest,
      reply: FastifyReply,
      onCaller: (caller: Caller) => void,
    ): Promise<void> {
      let limitKey = networkOf(request.ip);
      try {
        const caller = await callerOf(contract, request, reply, onCaller);
        limitKey = bytesKeyOf(caller);
        assertPermission(contract, caller);
        checkLength(contract, caller, Number(request.headers['content-length'] ?? 0), limiter);
      } catch (error) {
        if (limiter && error instanceof Fault) await delay(limitKey);
        throw error;
      }
    },
    /** Counts a request without an operation. Throws RATE_LIMITED. */
    checkAnonymous: ({ ip }: FastifyRequest): void => limiter?.checkAnonymous(ip),
    /** Delays the rejection of a request without a route if its network has many rejections. */
    async delayRejection({ ip }: FastifyRequest): Promise<void> {
      if (limiter) await delay(networkOf(ip));
    },
  };
}

export type Admission = ReturnType<typeof createAdmission>;
