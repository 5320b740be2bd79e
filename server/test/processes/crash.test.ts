// A server that is killed repeatedly under load. CRASH_PROCESSES sets the number of processes, with
// the default 1.
import { testKilledServer } from '../kit/crash/killed-server.ts';

testKilledServer(Number(process.env.CRASH_PROCESSES ?? 1));
