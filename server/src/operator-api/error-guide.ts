// Causes and remedies of the operator API, whose credentials are tokens and sessions of operators.
// Other codes have the texts of the platform API, except the remedy for an unknown ID.
import { CHECK_ID, ERROR_GUIDE, type Guide, guide } from '../http/error-guide.ts';
import type { Code } from '../kernel/fault.ts';

const CHECK_ACCESS = 'Check the ID, and that you have access to the platform that owns it.';

const withOperatorRemedy = (each: Guide): Guide =>
  each.remedy === CHECK_ID ? { ...each, remedy: CHECK_ACCESS } : each;

export const OPERATOR_ERROR_GUIDE: Readonly<Record<Code, Guide>> = {
  ...(Object.fromEntries(
    Object.entries(ERROR_GUIDE).map(([code, each]) => [code, withOperatorRemedy(each)]),
  ) as Record<Code, Guide>),
  NOT_FOUND: guide(
    'The resource or the path does not exist, or the operator has no access to its platform.',
    'Check the ID, your access to the platform, and the path with its version prefix.',
  ),
  UNAUTHORIZED: guide(
    'The operator token or the session is missing, has expired or was revoked, or the data of the ' +
      'sign-in is wrong.',
    'Sign in again, or use a valid operator token.',
  ),
  FORBIDDEN: guide(
    'The operator lacks a permission or the access to a platform, the request comes from another ' +
      'site, or the operation requires a new sign-in.',
    'Obtain the missing role or platform from an administrator, or sign in again as `reason` states.',
  ),
  LINK_ENDED: guide(
    'The link has expired, was already used or was replaced.',
    'Request a new link from an administrator.',
  ),
  PLATFORM_NOT_FOUND: guide(
    'No platform has this ID, or the operator has no access to the platform.',
    'Check the ID and your access to the platform.',
  ),
  NOT_IMPLEMENTED: guide(
    'No provider is configured for the function in this installation.',
    'Configure a provider, or use a function that is available.',
  ),
};
