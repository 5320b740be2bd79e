// One process, or CRASH_PROCESSES of them, killed repeatedly under load.
import { testKilledServer } from '../kit/crash/killed-server.ts';

testKilledServer(Number(process.env.CRASH_PROCESSES ?? 1));
