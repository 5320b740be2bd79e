// Three processes below a supervisor, killed repeatedly under load.
import { testKilledServer } from '../kit/crash/killed-server.ts';

testKilledServer(3);
