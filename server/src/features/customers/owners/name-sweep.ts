// Computes the name digests of beneficial owners that an earlier version stored.
import { NAME_BATCH, nameSweep } from '../digests/index.ts';
import { type OwnerRow, ownerDigests, ownerPersonal } from './owners.ts';

const SELECT_SQL = `select o.id, o.personal, o.version, c.id as customer_id, c.data_key
  from (select * from beneficial_owners
    where name_digests is null and personal is not null order by id limit ${NAME_BATCH}) o
  join customers c on c.id = o.customer_id`;

const UPDATE_SQL = `update beneficial_owners o set version = o.version + 1,
    name_digests = array(select json_array_elements_text(x.digests::json))
  from (select * from unnest($1::text[], $2::int[], $3::text[])
    as x(id, version, digests) order by id) x
  where o.id = x.id and o.version = x.version returning 1`;

type Row = Pick<OwnerRow, 'id' | 'personal' | 'version' | 'customer_id'> & {
  data_key: string | null;
};

export const ownerNameSweep = () =>
  nameSweep<Row>({
    name: 'owners.names',
    select: SELECT_SQL,
    update: UPDATE_SQL,
    digests(vault, row) {
      const business = { id: row.customer_id, data_key: row.data_key };
      const person = ownerPersonal(vault, business, row);
      return person ? (ownerDigests(vault, person).name_digests ?? []) : [];
    },
  });
