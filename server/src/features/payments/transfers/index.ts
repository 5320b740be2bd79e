// Same-currency transfers.
import type { Feature } from '../../../runtime/operation/feature.ts';
import type { TransferDeps } from './contract.ts';
import { transferInOperations } from './in.ts';
import { transferOperations } from './operations.ts';

export { createTransferOut } from './contract.ts';
export { createTransferIn, stageTransferIn, startTransferIn } from './in.ts';
export { stageTransferOut, startTransferOut } from './operations.ts';

/** Parts that this feature adds to a server. */
export const transferFeature = {
  operations: (deps: TransferDeps) => [...transferOperations(deps), ...transferInOperations(deps)],
} satisfies Feature;
