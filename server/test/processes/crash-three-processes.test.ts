// A server with three processes below a supervisor, which is killed repeatedly under load.
import { testKilledServer } from '../kit/crash/killed-server.ts';

testKilledServer(3);
