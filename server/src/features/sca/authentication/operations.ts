// All operations of strong customer authentication, for the composition.

import type { ScaDeps } from './deps.ts';
import { scaFactorOperations } from './factors/factor-operations.ts';
import { loginOperations } from './login/login-operations.ts';
import { resetOperations } from './resets/reset-operations.ts';
import { trustOperations } from './trust/trust-operations.ts';

export const scaOperations = (deps: ScaDeps) => [
  ...scaFactorOperations,
  ...loginOperations(deps),
  ...resetOperations(deps),
  ...trustOperations(deps),
];
