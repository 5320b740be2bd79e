// `handle` for the context of this server, which binds a contract to its function.
import { handler } from '../../kernel/contract/operation.ts';
import type { Ctx } from './context.ts';

export const handle = handler<Ctx>();
