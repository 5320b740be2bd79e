// Public interface of the sandbox operations.
import type { Feature } from '../../runtime/operation/feature.ts';
import type { CardParts } from '../cards/index.ts';
import { sandboxCardOperations } from './cards.ts';
import { sandboxOperations } from './operations.ts';
import { sandboxSendOperations } from './send.ts';
import { sandboxUmaOperations } from './uma.ts';
import { type SandboxWorldParts, sandboxWorldOperations } from './world/operations.ts';

export type { SandboxWorldParts } from './world/operations.ts';

/** What this feature adds to a server. */
export const sandboxFeature = {
  operations: (parts: CardParts & SandboxWorldParts) => [
    ...sandboxWorldOperations(parts),
    ...sandboxSendOperations,
    ...sandboxUmaOperations(parts.connectors),
    ...sandboxCardOperations(parts),
    ...sandboxOperations,
  ],
} satisfies Feature;
