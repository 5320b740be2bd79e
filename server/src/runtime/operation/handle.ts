// `handle` binds a contract to a function that receives the context of this server.
import { handler } from '../../kernel/contract/operation.ts';
import type { Ctx } from './context.ts';

export const handle = handler<Ctx>();
