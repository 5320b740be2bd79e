// The name of an operator. The ID is shown if the operator is not among the first 100 users, or if
// the current user may not read users.
import { useReply } from '../api/queries.ts';
import { usePermits } from '../api/session.tsx';
import { Hint } from './hint.tsx';
import { Identifier } from './identifier.tsx';

const MAX_USERS = 100;

export function OperatorName({ id }: { id: string }) {
  const permits = usePermits();
  const query = { limit: MAX_USERS };
  const { data } = useReply(
    'listOperatorUsers',
    { query },
    { enabled: permits('listOperatorUsers') },
  );
  const user = data?.data.find((each) => each.id === id);
  if (!user) return <Identifier id={id} />;
  return (
    <Hint text={id}>
      <span>{user.name}</span>
    </Hint>
  );
}
