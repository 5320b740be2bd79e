// Computes the name digests of customers that an earlier version stored.
import { NAME_BATCH, nameSweep } from '../digests/index.ts';
import { customerDigests, personalOf } from './personal.ts';
import type { CustomerRow } from './store.ts';

const SELECT_SQL = `select id, data_key, personal, version from customers
  where name_digests is null and data_key is not null order by id limit ${NAME_BATCH}`;

const UPDATE_SQL = `update customers c set version = c.version + 1,
    name_digests = array(select json_array_elements_text(x.digests::json))
  from (select * from unnest($1::text[], $2::int[], $3::text[])
    as x(id, version, digests) order by id) x
  where c.id = x.id and c.version = x.version returning 1`;

export const customerNameSweep = () =>
  nameSweep<Pick<CustomerRow, 'id' | 'data_key' | 'personal' | 'version'>>({
    name: 'customers.names',
    select: SELECT_SQL,
    update: UPDATE_SQL,
    digests(vault, row) {
      const personal = personalOf(vault, row);
      return customerDigests(vault, { email: null, phone: null, personal }).name_digests ?? [];
    },
  });
