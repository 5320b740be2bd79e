// CRASH_PROCESSES server processes, by default one, killed repeatedly under load.
import { testKilledServer } from '../kit/crash/killed-server.ts';

testKilledServer(Number(process.env.CRASH_PROCESSES ?? 1));
