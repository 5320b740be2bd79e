// All operations of strong customer authentication, for the composition.
import { scaFactorOperations } from './factors/factor-operations.ts';
import { loginOperations } from './login/login-operations.ts';
import type { ScaParts } from './parts.ts';
import { resetOperations } from './resets/reset-operations.ts';
import { trustOperations } from './trust/trust-operations.ts';

export const scaOperations = (parts: ScaParts) => [
  ...scaFactorOperations,
  ...loginOperations(parts),
  ...resetOperations(parts),
  ...trustOperations(parts),
];
