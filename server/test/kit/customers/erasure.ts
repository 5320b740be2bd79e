// Erases a customer like the operator command.
import { eraseCustomerData } from '../../../src/features/customers/privacy/index.ts';
import { PERSONAL_DATA } from '../../../src/personal-data.ts';
import type { Runtime } from '../../../src/runtime/operation/operate.ts';

export const erase = (
  runtime: Runtime,
  customerId: string,
  input: { actor: string; reason: string | null },
) => eraseCustomerData(runtime, PERSONAL_DATA, { customerId, ...input });
