// Identity checks by an HTTP service of the operator. The case is posted as JSON, and again for
// each poll. The response for an `id` is the state of that case, so the service must treat a
// repeated `id` as the same case. The address is https or on this machine, and its query is a
// secret.
import { isFindingType } from '../../catalog/identity/verification-errors.ts';
import type { Effects } from '../../kernel/effects.ts';
import type {
  IdentityCase,
  IdentityFinding,
  IdentityPort,
  IdentityVerdict,
  OwnerOutcome,
} from '../ports/index.ts';

type Json = Record<string, unknown>;

/** Timeout of each post. A client waits for the first one. */
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 1_000_000;
/** A request without a valid response is repeated after this time. */
const RETRY_AFTER_MS = 60_000;
/** Bounds of `checkAfterMs`. */
const MIN_CHECK_AFTER_MS = 1_000;
const MAX_CHECK_AFTER_MS = 7 * 86_400_000;

const UNKNOWN_RESULT: IdentityVerdict = { state: 'unknown', checkAfterMs: RETRY_AFTER_MS };
const OUTCOMES: readonly unknown[] = ['APPROVED', 'REJECTED', 'PENDING'] satisfies OwnerOutcome[];

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isTextOrAbsent = (value: unknown) => value === undefined || typeof value === 'string';

function isFinding(value: unknown): value is IdentityFinding {
  if (!isObject(value) || typeof value.type !== 'string' || !isFindingType(value.type))
    return false;
  return [value.resourceId, value.field, value.reason].every(isTextOrAbsent);
}

const findingOf = ({ type, resourceId, field, reason }: IdentityFinding): IdentityFinding => ({
  type,
  ...(resourceId === undefined ? {} : { resourceId }),
  ...(field === undefined ? {} : { field }),
  ...(reason === undefined ? {} : { reason }),
});

function isOwners(value: unknown): value is Record<string, OwnerOutcome> {
  return isObject(value) && Object.values(value).every((each) => OUTCOMES.includes(each));
}

function reviewOf({ checkAfterMs }: Json): IdentityVerdict | undefined {
  if (checkAfterMs === undefined) return { state: 'review' };
  if (typeof checkAfterMs !== 'number' || !Number.isFinite(checkAfterMs)) return undefined;
  const boundedMs = Math.min(
    Math.max(Math.ceil(checkAfterMs), MIN_CHECK_AFTER_MS),
    MAX_CHECK_AFTER_MS,
  );
  return { state: 'review', checkAfterMs: boundedMs };
}

/**
 * The verdict of a response body, or undefined if the body is invalid:
 *
 *   { state: approved | rejected | unresolved | review,
 *     owners?: { <ID of the owner>: APPROVED | REJECTED | PENDING },
 *     findings?: [{ type, resourceId?, field?, reason? }], checkAfterMs? }
 *
 * `type` is a VerificationErrorType of the API. `unresolved` has at least one finding. `review`
 * without `checkAfterMs` waits for the operator and is not polled.
 */
export function parseVerdict(body: unknown): IdentityVerdict | undefined {
  if (!isObject(body)) return undefined;
  const { state, owners = {}, findings = [] } = body;
  if (!isOwners(owners) || !Array.isArray(findings) || !findings.every(isFinding)) return undefined;
  const identityFindings = findings.map(findingOf);
  if (state === 'approved') return { state, owners };
  if (state === 'rejected') return { state, owners, findings: identityFindings };
  if (state === 'unresolved')
    return identityFindings.length ? { state, findings: identityFindings } : undefined;
  return state === 'review' ? reviewOf(body) : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `reportProblem` receives a description of a problem with the service, without its address. */
export function httpIdentity(
  effects: Effects,
  url: string,
  reportProblem: (problem: string) => void,
): IdentityPort {
  /**
   * Posts a case. `details` and `personalInfo` have the fields of customers and owners in the API:
   *
   *   { id, platformId, customerId, type: INDIVIDUAL | BUSINESS, email, phoneNumber, details,
   *     identifier, owners: [{ id, roles, ownershipPercentage, personalInfo }],
   *     documents: [{ id, holder, documentType, side?, country, documentNumber?,
   *       issuingAuthority? }] }
   */
  async function request(identityCase: IdentityCase): Promise<IdentityVerdict> {
    try {
      const reply = await effects.http({
        url,
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify(identityCase),
        timeoutMs: TIMEOUT_MS,
        maxBytes: MAX_BYTES,
        // The operator configured the address, which may be in a private network.
        publicOnly: false,
      });
      const verdict = reply.status === 200 ? parseVerdict(parseJson(reply.body)) : undefined;
      if (verdict) return verdict;
      reportProblem(`The identity service responded with ${reply.status} and without a verdict.`);
    } catch {
      reportProblem('The identity service does not respond.');
    }
    return UNKNOWN_RESULT;
  }
  return { submit: request, check: request };
}
